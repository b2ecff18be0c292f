import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Config } from '../config.js';
import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { DocumentRows } from './document-rows.js';
import { Documents } from './documents.js';

const names = z.array(z.string());
const words = z.record(z.string(), z.string());

onEveryDatabase('a document', (databases) => {
  let logs: TestLogs;
  beforeEach(async () => void (logs = await new TestLogs(databases).open()));
  afterEach(() => logs.close());

  const start = (env: Record<string, string> = {}) =>
    Documents.load(new Config({ ...logs.config.environment, ...env }), logs.database);
  const file = (name: string) => join(logs.config.data, name);
  const rows = () => logs.database.kysely.selectFrom('document').selectAll().execute();
  const key = Buffer.alloc(32, 7).toString('base64');

  it('is empty at first, and what it was last changed to after a restart', async () => {
    const first = (await start()).open('names', names, ['nobody']);
    expect(first.value).toEqual(['nobody']);
    await Promise.all(['a', 'b'].map((name) => first.change((all) => [...all, name])));
    await expect(
      first.change(() => {
        throw new Error('refused');
      }),
    ).rejects.toThrow('refused');
    expect(first.value).toEqual(['nobody', 'a', 'b']);
    expect((await start()).open('names', names, []).value).toEqual(['nobody', 'a', 'b']);
    expect(await rows()).toMatchObject([{ name: 'names', version: 2 }]);
  });

  it('loses no change of two servers that change it at once', async () => {
    const servers = [await start(), await start()].map((one) => one.open('names', names, []));
    const wanted = Array.from({ length: 20 }, (_, index) => `n${index}`);
    await Promise.all(
      wanted.map((name, index) => servers[index % 2]?.change((all) => [...all, name])),
    );
    const { value } = (await start()).open('names', names, []);
    expect(value.toSorted()).toEqual(wanted.toSorted());
    // A decision is made on the value that is replaced, not on the one that was read at the start.
    const [one, other] = servers;
    await one?.change(() => []);
    await other?.change((all) => [...all, `after ${all.length}`]);
    expect(other?.value).toEqual(['after 0']);
  });

  it('is read again only when another server has changed it', async () => {
    const documents = await start();
    const document = documents.open('names', names, []);
    const read = jest.spyOn(DocumentRows.prototype, 'read');
    await document.change(() => ['a']);
    await documents.refresh('names');
    await documents.refresh();
    expect(read).not.toHaveBeenCalled();
    await (await start()).open('names', names, []).change(() => ['b']);
    await documents.refresh();
    await documents.refresh('names');
    expect(read).toHaveBeenCalledTimes(1);
    expect(document.value).toEqual(['b']);
    read.mockRestore();
  });

  it('is unreadable in the database, whose key is a file of the server’s user', async () => {
    await (await start()).open('words', words, {}).change(() => ({ openai: 'k-123456' }));
    const [row] = await rows();
    const stored = Buffer.from(row?.value ?? '', 'base64').toString('latin1') + row?.value;
    expect(stored).not.toMatch(/k-123456|openai/);
    expect(statSync(file('secret.key')).mode & 0o777).toBe(0o600);
    // The same value is never stored as the same text.
    await (await start()).open('words', words, {}).change((same) => same);
    expect((await rows())[0]?.value).not.toBe(row?.value);
  });

  it('attacks: is neither forged, moved to another name nor read with another key', async () => {
    const documents = await start();
    await documents.open('words', words, {}).change(() => ({ a: 'b' }));
    await documents.open('names', names, []).change(() => ['a']);
    const [honest] = await rows();
    const put = (name: string, value: string) =>
      logs.database.kysely
        .updateTable('document')
        .set({ value })
        .where('name', '=', name)
        .execute();
    const value = honest?.value ?? '';
    const cannot = 'cannot be decrypted with the key in';
    const broken = Buffer.from(value, 'base64');
    broken.writeUInt8(broken.readUInt8(broken.length - 1) ^ 1, broken.length - 1);
    for (const [name, forged] of [
      ['names', value],
      ['words', broken.toString('base64')],
      ['words', value.slice(0, 20)],
      ['words', '{"a":"b"}'],
      ['words', ''],
    ] as const) {
      await put(name, forged);
      const again = await start();
      expect(() => again.open(name, z.any(), null)).toThrow(`The document “${name}” of`);
      expect(() => again.open(name, z.any(), null)).toThrow(cannot);
    }
    await put('words', value);
    expect((await start()).open('words', words, {}).value).toEqual({ a: 'b' });
    const other = await start({ BELAY_SECRET_KEY: key });
    expect(() => other.open('words', words, {})).toThrow(`${cannot} BELAY_SECRET_KEY`);
  });

  it('is read elsewhere by who has its key, and needs it', async () => {
    await (await start()).open('names', names, []).change(() => ['a']);
    const own = readFileSync(file('secret.key'), 'utf8');
    writeFileSync(file('secret.key'), 'cut');
    await expect(start()).rejects.toThrow(/secret\.key is damaged: restore it from a backup\.$/);
    const elsewhere = { BELAY_DATA: file('elsewhere') };
    await expect(start(elsewhere)).rejects.toThrow(/secret\.key is missing.*BELAY_SECRET_KEY/);
    expect(existsSync(join(file('elsewhere'), 'secret.key'))).toBe(false);
    const given = await start({ ...elsewhere, BELAY_SECRET_KEY: own.trim() });
    expect(given.open('names', names, []).value).toEqual(['a']);
    expect(() => new Config({ BELAY_SECRET_KEY: 'short' })).toThrow(/BELAY_SECRET_KEY: write 32/);
  });

  describe('that an earlier version kept in a file', () => {
    const text = '{ "b": "2",\n  "a": "1" }';
    const withFile = (content = text) => writeFileSync(file('words.json'), content);
    const open = async () => {
      const documents = await start();
      return { documents, document: documents.open('words', words, {}) };
    };

    it('is taken over, and can be changed', async () => {
      withFile();
      const { documents, document } = await open();
      expect(document.value).toEqual({ a: '1', b: '2' });
      expect(existsSync(file('words.json'))).toBe(true);
      await documents.onModuleInit();
      expect(existsSync(file('words.json'))).toBe(false);
      await document.change((before) => ({ ...before, c: '3' }));
      expect((await open()).document.value).toEqual({ a: '1', b: '2', c: '3' });
    });

    it('is taken over exactly when the server was killed meanwhile', async () => {
      withFile();
      const before = await open();
      // Killed before anything was stored: nothing has changed.
      expect(before.document.value).toEqual(await open().then(({ document }) => document.value));
      await before.documents.onModuleInit();
      // Killed after it was stored, and before the file was deleted.
      withFile();
      const after = await open();
      await after.documents.onModuleInit();
      expect(after.document.value).toEqual({ a: '1', b: '2' });
      expect(existsSync(file('words.json'))).toBe(false);
      expect(await rows()).toMatchObject([{ version: 1 }]);
    });

    it('and that cannot be read is one sentence that names the file, which stays', async () => {
      for (const broken of ['{"openai":', '[]']) {
        withFile(broken);
        await expect(open()).rejects.toThrow(/words\.json cannot be read: fix it, or remove it/);
        expect(readFileSync(file('words.json'), 'utf8')).toBe(broken);
      }
      expect(await rows()).toEqual([]);
    });

    it('is not overwritten by another one of the database, nor the other way round', async () => {
      await (await open()).document.change(() => ({ a: 'of the database' }));
      withFile();
      const sentence = /words\.json says something else than the document “words” of the database/;
      await expect(open()).rejects.toThrow(sentence);
      expect(readFileSync(file('words.json'), 'utf8')).toBe(text);
      // Also when another server with its own folder was faster.
      await logs.database.kysely.deleteFrom('document').execute();
      const [slow, fast] = [await open(), await open()];
      await fast.document.change(() => ({ a: 'faster' }));
      await expect(slow.documents.onModuleInit()).rejects.toThrow(sentence);
      expect(readFileSync(file('words.json'), 'utf8')).toBe(text);
    });
  });
});
