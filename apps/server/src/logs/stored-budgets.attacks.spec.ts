import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  maxShortText,
  newEvent,
  operations,
  userCallPrefix,
  withShortTexts,
  type AgentEvent,
} from '@belay/protocol';
import { TestLogs } from '../testing/logs.js';
import { BlobStore } from './blob-store.js';
import { TerminalFiles } from './terminal-files.js';
import { TerminalLog } from './terminal-log.js';

const mebibyte = 2 ** 20;
const small = { BELAY_SESSION_MB: '2', BELAY_SESSION_LOG_MB: '1' };

const agentEvent = (n: number, action: string, args: object, id = `call-${n}`): AgentEvent => ({
  n,
  time: new Date().toISOString(),
  action,
  args: { ...args },
  message: action,
  id,
});
const thought = (n: number) => agentEvent(n, 'think', { thought: 'x'.repeat(700_000) });

describe('attacks: a disk that a sandbox wants to fill', () => {
  let logs: TestLogs;
  beforeEach(async () => {
    logs = await new TestLogs().open(small);
    for (const session of ['bad', 'good']) {
      await logs.session(session);
      await logs.log.nextEpoch(session);
    }
  });
  afterEach(() => logs.close());

  describe('by what terminals print', () => {
    let files: TerminalFiles;
    let terminals: TerminalLog;
    const open = () => {
      files = new TerminalFiles(logs.config);
      terminals = new TerminalLog(logs.config, files);
    };
    beforeEach(open);
    afterEach(() => files.onApplicationShutdown());

    const flood = async (session: string, pieces: number, from = 0) => {
      for (let piece = 0; piece < pieces; piece++) {
        const bytes = Buffer.alloc(65_536, 'x');
        await terminals.append(session, 'main', from + piece * bytes.length, bytes);
      }
      return terminals.size(session, 'main');
    };
    const onDisk = async (session: string) =>
      (await stat(join(logs.config.data, 'terminals', session, 'main'))).blocks * 512;

    it('keeps its beginning and a notice, and the program and its viewers go on', async () => {
      let seen = 0;
      terminals.subscribe('bad', (_terminal, offset, bytes) => {
        expect(offset).toBe(seen);
        seen += bytes.byteLength;
      });
      expect(await flood('bad', 80)).toBe(5 * mebibyte);
      expect(seen).toBe(5 * mebibyte);
      expect(await onDisk('bad')).toBeLessThan(mebibyte + 10_000);
      const cut = await terminals.read('bad', 'main', mebibyte, mebibyte + 300);
      expect(cut.toString()).toMatch(
        /^\r\n.*limit of 1 MiB: what follows is shown live and not kept\. Raise BELAY_SESSION_MB to keep more\.\]\r\n\0+$/s,
      );
      expect(await flood('good', 8)).toBe(mebibyte / 2);
      expect((await terminals.read('good', 'main', 0, 10)).toString()).toBe('xxxxxxxxxx');
    });

    it('stays so after a restart of the server, and in a copy', async () => {
      await flood('bad', 40);
      await files.onApplicationShutdown();
      open();
      expect(await flood('bad', 40, 40 * 65_536)).toBe(5 * mebibyte);
      expect(await onDisk('bad')).toBeLessThan(mebibyte + 20_000);
      await terminals.copy('bad', 'copy', 'main', 5 * mebibyte);
      expect(await terminals.size('copy', 'main')).toBe(5 * mebibyte);
      expect(await onDisk('copy')).toBeLessThan(mebibyte + 20_000);
    });

    it('by terminals without number', async () => {
      const names = Array.from({ length: 1_100 }, (_, at) => `t${at}`);
      const opened = await Promise.allSettled(names.map((name) => terminals.size('bad', name)));
      expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1_000);
      expect(opened.at(-1)).toMatchObject({ reason: { code: 'limit_reached' } });
      expect(await terminals.size('good', 'main')).toBe(0);
    });
  });

  it('by events: its session waits and says why, can be stopped, and others go on', async () => {
    await logs.log.appendFromAgent('bad', 1, [thought(1)]);
    await logs.log.appendFromAgent('bad', 1, [thought(2)]);
    const refused = logs.log.appendFromAgent('bad', 1, [thought(3)]);
    await expect(refused).rejects.toMatchObject({ code: 'disk_full' });
    expect(await logs.log.summary('bad')).toMatchObject({
      state: 'waiting',
      reason:
        'The log of the session has reached its limit of 1 MiB. Raise BELAY_SESSION_LOG_MB and start the server again, or stop the session. Then it continues automatically.',
    });
    expect(logs.log.stalls.any).toBe(false);
    expect(await logs.log.appendFromAgent('good', 1, [thought(1)])).toHaveLength(1);
    const stop = newEvent('user', 'stop', { args: {}, message: 'Stopped' });
    await logs.log.append('bad', [stop]);
    expect(await logs.log.summary('bad')).toMatchObject({ state: 'stopped' });
  });

  it('goes on with a higher limit, where it was', async () => {
    await logs.log.appendFromAgent('bad', 1, [thought(1)]);
    await logs.log.appendFromAgent('bad', 1, [thought(2)]);
    await expect(logs.log.appendFromAgent('bad', 1, [thought(3)])).rejects.toThrow();
    await logs.reopen({ ...small, BELAY_SESSION_LOG_MB: '3' });
    expect(await logs.log.appendFromAgent('bad', 1, [thought(3)])).toHaveLength(1);
    expect(await logs.log.summary('bad')).toMatchObject({ state: 'running' });
  });

  it('by blobs, also by those that no event names', async () => {
    const blobs = new BlobStore(logs.config, logs.database, logs.objects);
    const put = (session: string, at: number) =>
      blobs.putOf(session, Buffer.alloc(400_000, at), 'image/jpeg');
    await put('bad', 1);
    await put('bad', 2);
    await expect(put('bad', 3)).rejects.toMatchObject({
      code: 'limit_reached',
      message: expect.stringContaining('limit of 1 MiB. Raise BELAY_SESSION_MB'),
    });
    const many = await Promise.allSettled([4, 5, 6, 7].map((at) => put('good', at)));
    expect(many.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  });

  it('that is nearly full: agents wait, and the user goes on', async () => {
    await logs.reopen({ BELAY_KEEP_FREE_MB: '1000000000' });
    await expect(logs.log.appendFromAgent('bad', 1, [thought(1)])).rejects.toMatchObject({
      code: 'disk_full',
    });
    expect(logs.log.stalls.any).toBe(true);
    const pause = newEvent('user', 'pause', { args: {}, message: 'Paused' });
    expect(await logs.log.append('bad', [pause])).toHaveLength(1);
    const blobs = new BlobStore(logs.config, logs.database, logs.objects);
    await expect(blobs.putOf('bad', Buffer.alloc(1), 'x')).rejects.toMatchObject({
      code: 'disk_full',
    });
    const terminals = new TerminalLog(logs.config, new TerminalFiles(logs.config));
    await expect(terminals.append('bad', 'main', 0, Buffer.from('x'))).rejects.toMatchObject({
      code: 'disk_full',
    });
  });

  it.each([
    ['say', { text: 'On and on', calls: [] }],
    ['plan', { markdown: '- [ ] more' }],
    ['terminal.run', { command: 'ls' }],
  ])('after the end of its session: no new %s', async (action, args) => {
    const stop = newEvent('user', 'stop', { args: {}, message: 'Stopped' });
    await logs.log.append('bad', [stop]);
    const more = logs.log.appendFromAgent('bad', 1, [agentEvent(1, action, args)]);
    await expect(more).rejects.toMatchObject({ code: 'invalid_input' });
    const outcome = { operation: 'terminal.run', ok: false, output: {}, seconds: 1 };
    const ended = agentEvent(1, 'result', outcome, 'call-0');
    expect(await logs.log.appendFromAgent('bad', 1, [ended])).toHaveLength(1);
    // What the user asks the lingering sandbox for is still in the log.
    const call = `${userCallPrefix}1`;
    logs.log.userCalls.add('bad', call, {
      operation: operations['files.read'],
      input: { path: 'a' },
    });
    const asked = agentEvent(2, 'files.read', { path: 'a' }, call);
    expect(await logs.log.appendFromAgent('bad', 1, [asked])).toHaveLength(1);
  });
});

describe('attacks: a file of 50 MB that the user writes', () => {
  it('is one short event, in the user’s name', async () => {
    const logs = await new TestLogs().open();
    await logs.session('s');
    await logs.log.nextEpoch('s');
    const input = { path: 'a', content: 'x'.repeat(50_000_000), encoding: 'utf8' };
    const call = `${userCallPrefix}1`;
    logs.log.userCalls.add('s', call, { operation: operations['files.write'], input });
    // As the agent logs it.
    const written = agentEvent(
      1,
      'files.write',
      withShortTexts(input, maxShortText) as object,
      call,
    );
    const [seq = 0] = await logs.log.appendFromAgent('s', 1, [written]);
    const [event] = await logs.log.read('s', { after: seq - 1 });
    expect(event).toMatchObject({ source: 'user', action: 'files.write', args: { path: 'a' } });
    expect(JSON.stringify(event).length).toBeLessThan(3_000);
    await logs.close();
  });
});
