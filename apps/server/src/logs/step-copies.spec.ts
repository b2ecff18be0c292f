import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { until } from '@belay/testing';
import { Config } from '../config.js';
import { FolderObjects } from '../storage/folder-objects.js';
import { StepCopies } from './step-copies.js';

const commit = (n: number) => String(n).padStart(40, '0');

describe('copies of steps', () => {
  let data: string;
  let copies: StepCopies;
  const open = () =>
    new StepCopies(new Config({ BELAY_DATA: data, BELAY_COPY_MB: '1' }), new FolderObjects(data));
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'belay-copies-'));
    copies = open();
  });
  afterEach(() => rmSync(data, { recursive: true }));

  const store = (
    kind: 'steps' | 'repository',
    [n, after]: [number, number],
    bytes: Buffer | Readable = Buffer.from(`${kind} ${n}`),
  ) => {
    const content = Buffer.isBuffer(bytes) ? Readable.from([bytes]) : bytes;
    return copies.store('one', { kind, n, after, commit: commit(n) }, content);
  };
  const onDisk = () => readdirSync(join(data, 'copies', 'one')).toSorted();
  const shown = async () => {
    const parts = await copies.list('one');
    return Promise.all(parts.map(async (part) => String(await buffer(await copies.open(part)))));
  };

  it('are kept in order, across restarts, until a whole one of their kind replaces them', async () => {
    expect(await copies.stored('one')).toEqual({
      next: 1,
      steps: 0,
      repository: 0,
      commit: null,
      wanted: true,
    });
    await store('steps', [1, 0]);
    await store('repository', [2, 0]);
    await store('steps', [3, 1]);
    copies = open();
    expect(await copies.stored('one')).toMatchObject({
      next: 4,
      steps: 3,
      repository: 2,
      commit: commit(3),
    });
    expect(await shown()).toEqual(['steps 1', 'repository 2', 'steps 3']);
    await store('steps', [4, 0]);
    expect(await shown()).toEqual(['repository 2', 'steps 4']);
    expect(onDisk()).toHaveLength(2);
  });

  it('are listed once for all parts that an agent sends, and again after a failure', async () => {
    const objects = new FolderObjects(data);
    const listed = jest.spyOn(objects, 'list');
    copies = new StepCopies(new Config({ BELAY_DATA: data, BELAY_COPY_MB: '1' }), objects);
    await copies.stored('one');
    for (const [n, after] of [
      [1, 0],
      [2, 1],
      [3, 0],
      [4, 3],
    ] as const)
      await store('steps', [n, after], Buffer.alloc(300_000));
    expect(onDisk()).toHaveLength(2);
    expect(listed).toHaveBeenCalledTimes(1);
    // Their sizes are known, too.
    const large = store('steps', [5, 4], Buffer.alloc(600_000));
    await expect(large).rejects.toMatchObject({ code: 'limit_reached' });
    await store('steps', [5, 4]);
    expect(listed).toHaveBeenCalledTimes(2);
  });

  it('are not there half: neither from a cut stream nor from a killed server', async () => {
    await store('steps', [1, 0]);
    const cut = new PassThrough();
    const storing = store('steps', [2, 1], cut);
    cut.write('half');
    await until('a file for it', () => onDisk().length === 2);
    cut.destroy(new Error('The connection broke.'));
    await expect(storing).rejects.toThrow();
    expect(onDisk()).toHaveLength(1);
    // A server that was killed between a whole copy and the removal of older parts, and during the next one.
    const folder = join(data, 'copies', 'one');
    writeFileSync(join(folder, `2.steps.whole.${commit(2)}`), 'steps 2');
    writeFileSync(join(folder, `3.steps.more.${commit(3)}.x.part`), 'half');
    expect(await copies.stored('one')).toMatchObject({ next: 3, steps: 2 });
    expect(await shown()).toEqual(['steps 2']);
    await store('steps', [3, 2]);
    expect(onDisk()).toHaveLength(2);
  });

  it('go with their session, also if the server was killed before', async () => {
    await store('steps', [1, 0]);
    mkdirSync(join(data, 'copies', 'gone'));
    writeFileSync(join(data, 'copies', 'gone', `1.steps.whole.${commit(1)}.x.part`), 'half');
    await copies.removeUnused(() => Promise.resolve(['one']));
    expect(readdirSync(join(data, 'copies'))).toEqual(['one']);
    await copies.remove('one');
    expect(readdirSync(join(data, 'copies'))).toEqual([]);
    expect(await copies.list('one')).toEqual([]);
  });

  describe('attacks: an agent', () => {
    it.each<[string, 'steps' | 'repository', [number, number]]>([
      ['repeats a number', 'steps', [2, 1]],
      ['skips a number', 'steps', [4, 1]],
      ['sends a part of the future', 'steps', [3, 3]],
      ['builds on a part of the other kind', 'steps', [3, 2]],
      ['builds on a part that is not the last', 'repository', [3, 1]],
      ['repeats the number of a whole copy', 'steps', [1, 0]],
    ])('that %s is refused, and nothing changes', async (_, kind, place) => {
      await store('steps', [1, 0]);
      await store('repository', [2, 0]);
      await expect(store(kind, place)).rejects.toMatchObject({ code: 'conflict' });
      expect(await shown()).toEqual(['steps 1', 'repository 2']);
      // The control.
      await store('steps', [3, 1]);
    });

    it('fills no more than the session’s space, and keeps what it had', async () => {
      const large = Buffer.alloc(700_000);
      await store('steps', [1, 0], large);
      await expect(store('repository', [2, 0], large)).rejects.toMatchObject({
        code: 'limit_reached',
      });
      await expect(store('steps', [2, 1], large)).rejects.toMatchObject({ code: 'limit_reached' });
      expect(onDisk()).toHaveLength(1);
      // A whole copy takes the place of the first.
      await store('steps', [2, 0], large);
      expect(onDisk()).toEqual([`2.steps.whole.${commit(2)}`]);
    });

    it('that floods with small parts must send a whole one after 200 of a kind', async () => {
      await store('steps', [1, 0]);
      for (let n = 2; n <= 200; n++) await store('steps', [n, n - 1]);
      await expect(store('steps', [201, 200])).rejects.toMatchObject({ code: 'limit_reached' });
      await store('steps', [201, 0]);
      expect(onDisk()).toHaveLength(1);
    });

    it('that sends two parts at once has one of them refused', async () => {
      const slow = new PassThrough();
      const first = store('steps', [1, 0], slow);
      await expect(store('steps', [1, 0])).rejects.toMatchObject({ code: 'conflict' });
      slow.end('slow');
      await first;
      expect(await shown()).toEqual(['slow']);
    });
  });
});
