import { createHash, randomBytes } from 'node:crypto';
import { PassThrough, Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AppError } from '@belay/protocol';
import { BlobStore } from '../../logs/blob-store.js';
import { TestLogs } from '../../testing/logs.js';
import type { ObjectStore } from '../object-store.js';

const hourMs = 3_600_000;

/** What holds wherever objects are stored. `open` returns a store that is empty. */
export function objectStoreCases(open: () => Promise<ObjectStore>): void {
  let store: ObjectStore;
  beforeEach(async () => void (store = await open()));

  const read = async (key: string) => {
    const found = await store.open(key);
    return found && String(await buffer(found.content));
  };
  it('keeps what was put last, until it is removed', async () => {
    const before = Date.now();
    await store.put('one/a.tar', Readable.from(['of ', 'a stream']));
    await store.put('one/deep/b', Buffer.from('of bytes'));
    await store.put('one/empty', Buffer.alloc(0));
    await store.put('one2/a.tar', Buffer.from('of another folder'));
    await store.put('one/a.tar', Buffer.from('replaced'));
    expect(await read('one/a.tar')).toBe('replaced');
    expect(await read('one/deep/b')).toBe('of bytes');
    expect(await read('one/empty')).toBe('');
    const found = await store.find('one/a.tar');
    expect(found).toMatchObject({ key: 'one/a.tar', bytes: 8 });
    // S3 counts in seconds, by another clock.
    expect(found?.storedMs).toBeGreaterThan(before - hourMs);
    expect(found?.storedMs).toBeLessThan(before + hourMs);
    expect(await keysIn(store, 'one')).toEqual(['one/a.tar', 'one/deep/b', 'one/empty']);
    await store.remove('one/a.tar');
    await store.remove('one/a.tar');
    expect(await store.find('one/a.tar')).toBeUndefined();
    expect(await store.open('one/a.tar')).toBeUndefined();
    await store.removeFolder('one');
    await store.removeFolder('one');
    expect(await keysIn(store, 'one')).toEqual([]);
    expect(await keysIn(store, 'one2')).toEqual(['one2/a.tar']);
  });

  it('keeps every byte of a large stream', async () => {
    const content = randomBytes(9 * 2 ** 20);
    const chunks = Array.from({ length: 9 }, (_, at) => content.subarray(at << 20, (at + 1) << 20));
    await store.put('large', Readable.from(chunks));
    const found = await store.open('large');
    expect(found?.bytes).toBe(content.length);
    const hash = createHash('sha256');
    for await (const chunk of found?.content ?? []) hash.update(chunk as Buffer);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(content).digest('hex'));
  });

  it('is read in part', async () => {
    await store.put('part', Buffer.from('0123456789'));
    for (const [from, to, part] of [
      [0, 4, '0123'],
      [3, 4, '3'],
      [8, 100, '89'],
    ] as const) {
      const found = await store.open('part', { from, to });
      expect(found && String(await buffer(found.content))).toBe(part);
      expect(found?.bytes).toBe(part.length);
    }
    expect(await store.open('missing', { from: 0, to: 4 })).toBeUndefined();
  });

  it('has one of two that are put at once, whole', async () => {
    const contents = ['a', 'b'].map((one) => one.repeat(300_000));
    await Promise.all(contents.map((one) => store.put('both', Readable.from([one]))));
    expect(contents).toContain(await read('both'));
  });

  it('changes nothing when the content breaks off, is refused or is cancelled', async () => {
    await store.put('a/kept', Buffer.from('before'));
    const broken = new PassThrough();
    broken.write(Buffer.alloc(100_000));
    const cut = store.put('a/kept', broken);
    broken.destroy(new Error('The connection broke.'));
    await expect(cut).rejects.toThrow('The connection broke.');
    const through = new Transform({
      transform: (_, _encoding, done) => done(new AppError('too_large', 'It is too large.')),
    });
    const refused = store.put('a/new', Readable.from(['much']), { through });
    await expect(refused).rejects.toMatchObject({ code: 'too_large' });
    const controller = new AbortController();
    const endless = new PassThrough();
    endless.write('more');
    const cancelled = store.put('a/new', endless, { signal: controller.signal });
    controller.abort();
    await expect(cancelled).rejects.toMatchObject({ name: 'AbortError' });
    expect(await keysIn(store, 'a')).toEqual(['a/kept']);
    expect(await read('a/kept')).toBe('before');
  });

  keyAttacks(() => store);
  blobCases(() => store);
}

function keyAttacks(store: () => ObjectStore): void {
  it.each([
    '',
    '.',
    '../up',
    'a/../../up',
    'a/..',
    '/etc/passwd',
    'a//b',
    'a/',
    'a\\..\\b',
    'a/.hidden',
    'nul\0',
    'line\nbreak',
    'a?b=c',
    'k'.repeat(2_000),
  ])('attacks: the key %j leads nowhere', async (key) => {
    const refused = { code: 'invalid_input' };
    const stored = Buffer.from('x');
    await expect((async () => store().put(key, stored))()).rejects.toMatchObject(refused);
    await expect((async () => store().find(key))()).rejects.toMatchObject(refused);
    await expect((async () => store().open(key))()).rejects.toMatchObject(refused);
    await expect((async () => store().remove(key))()).rejects.toMatchObject(refused);
    await expect((async () => store().removeFolder(key))()).rejects.toMatchObject(refused);
    await expect(keysIn(store(), key)).rejects.toMatchObject(refused);
  });
}

function blobCases(store: () => ObjectStore): void {
  describe('blobs', () => {
    let logs: TestLogs;
    let blobs: BlobStore;
    beforeEach(async () => {
      logs = await new TestLogs().open();
      blobs = new BlobStore(logs.config, logs.database, store());
    });
    afterEach(() => logs.close());
    const keyOf = (blob: string) => `blobs/${blob.slice(0, 2)}/${blob}`;

    it('are stored once by their hash, and go when nothing refers to them', async () => {
      const picture = Buffer.from('a picture');
      const ids = await Promise.all([1, 2, 3].map(() => blobs.put(picture, 'image/png')));
      const [blob = ''] = ids;
      expect(new Set(ids)).toEqual(new Set([createHash('sha256').update(picture).digest('hex')]));
      expect(await keysIn(store(), 'blobs')).toEqual([keyOf(blob)]);
      expect(await blobs.get(blob)).toEqual({ type: 'image/png', bytes: picture });
      expect(await blobs.has(blob)).toBe(true);
      const used = await blobs.putFor('session', Buffer.from('used'), 'text/plain');
      await blobs.removeAllUnused(Date.now() - hourMs);
      expect(await blobs.has(blob)).toBe(true);
      await blobs.removeAllUnused(Date.now() + hourMs);
      expect(await Promise.all([blob, used].map((one) => blobs.has(one)))).toEqual([false, true]);
      await expect(blobs.get(blob)).rejects.toMatchObject({ code: 'not_found' });
    });

    it('attacks: are refused when their content is not that of their hash', async () => {
      const blob = await blobs.put(Buffer.from('honest'), 'text/plain');
      await store().put(keyOf(blob), Buffer.from('text/plain\nforged'));
      const damaged = { code: 'internal', message: expect.stringContaining('is damaged') };
      await expect(blobs.get(blob)).rejects.toMatchObject(damaged);
      await store().put(keyOf(blob), Buffer.from('text/plain\nhonest'));
      expect((await blobs.get(blob)).bytes.toString()).toBe('honest');
    });

    it.each([
      '',
      '..',
      '../../server.json',
      'A'.repeat(64),
      'a'.repeat(63),
      `${'a'.repeat(64)}/..`,
    ])('attacks: the id %j is of no blob', async (blob) => {
      expect(await blobs.has(blob)).toBe(false);
      await expect(blobs.get(blob)).rejects.toMatchObject({ code: 'not_found' });
    });
  });
}

async function keysIn(store: ObjectStore, folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of store.list(folder)) found.push(key);
  return found.toSorted();
}
