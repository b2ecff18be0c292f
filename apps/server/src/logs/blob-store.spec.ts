import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newEvent, type EvaluationTrial } from '@belay/protocol';
import { EvaluationStore } from '../evaluations/evaluation.store.js';
import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { BlobStore } from './blob-store.js';

const hour = 3_600_000;

onEveryDatabase('blobs', (databases) => {
  let logs: TestLogs;
  let blobs: BlobStore;
  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    blobs = new BlobStore(logs.config, logs.database, logs.objects);
  });
  afterEach(() => logs.close());

  const pathOf = (blob: string) => join(logs.config.data, 'blobs', blob.slice(0, 2), blob);
  /** As if it had been stored two hours ago. */
  const age = (path: string) =>
    utimesSync(path, (Date.now() - 2 * hour) / 1000, (Date.now() - 2 * hour) / 1000);
  const type = 'image/png';
  const old = async (text: string, session?: string) => {
    const bytes = Buffer.from(text);
    const put = session === undefined ? blobs.put(bytes, type) : blobs.putFor(session, bytes, type);
    const blob = await put;
    age(pathOf(blob));
    return blob;
  };
  const show = (session: string, image: string) =>
    logs.log.append(session, [
      newEvent('user', 'message', { args: { text: 'Look', images: [image] }, message: 'Look' }),
    ]);
  const clear = () => blobs.removeAllUnused(Date.now() - hour);
  const isThere = (blob: string) => existsSync(pathOf(blob));

  it('stay as long as a session names them in whatever way, and go with the last one', async () => {
    const task = await old('task');
    const message = await old('message');
    const screenshot = await old('screenshot', 'a');
    const result = await old('result', 'a');
    const byHand = await old('a screenshot that the user took', 'a');
    const whole = await old('the whole of a long result', 'a');
    await logs.session('a', { images: [task] });
    await logs.session('b');
    await show('a', message);
    await show('b', message);
    const page = { url: 'http://localhost/', title: 'Page', screenshot };
    const shot = {
      operation: 'browser.screenshot',
      ok: true,
      output: { image: byHand },
      seconds: 0,
    };
    const output = { text: '…', omittedCharacters: 1, full: whole };
    const long = { ...shot, operation: 'mcp.tools.long', output };
    await logs.log.append('a', [
      newEvent('agent', 'browser', { args: page, message: 'Page' }),
      newEvent('agent', 'result', {
        args: { ...shot, images: [result] },
        message: 'Done',
        id: 'c',
      }),
      newEvent('agent', 'result', { args: long, message: 'Done', id: 'd' }),
    ]);
    await clear();
    const all = [task, message, screenshot, result, byHand, whole];
    expect(all.every(isThere)).toBe(true);
    const released = await logs.log.remove('a');
    expect(released.toSorted()).toEqual(all.toSorted());
    await blobs.removeUnused(released, Date.now() - hour);
    expect(all.filter(isThere)).toEqual([message]);
    await blobs.removeUnused(await logs.log.remove('b'), Date.now() - hour);
    expect(isThere(message)).toBe(false);
  });

  it('stay as long as a benchmark run names them', async () => {
    const store = new EvaluationStore(logs.database);
    const log = await old('log');
    const trial = { task: 't', attempt: 1, tokens: 0, dollars: 0, answer: null, log };
    await store.transaction((connection) =>
      store.putTrials(connection, { id: 'run', seq: 1 }, [trial as EvaluationTrial]),
    );
    await clear();
    expect(isThere(log)).toBe(true);
    await store.remove('run');
    await clear();
    expect(isThere(log)).toBe(false);
  });

  it('are safe while they are stored, also when they were there before', async () => {
    const fresh = await blobs.put(Buffer.from('fresh'), 'image/png');
    const again = await old('again');
    const [stored] = await Promise.all([blobs.put(Buffer.from('again'), 'image/png'), clear()]);
    expect(stored).toBe(again);
    expect([fresh, again].map(isThere)).toEqual([true, true]);
  });

  it('leave nothing of one that a killed server began', async () => {
    const unfinished = `${pathOf('ab'.repeat(32))}.123-1`;
    mkdirSync(join(unfinished, '..'), { recursive: true });
    writeFileSync(unfinished, 'half');
    age(unfinished);
    await clear();
    expect(readdirSync(join(unfinished, '..'))).toEqual([]);
  });
});
