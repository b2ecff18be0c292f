import { TestLogs, type TestDatabases } from '../../testing/logs.js';
import { TerminalLog } from '../terminal-log.js';
import type { TerminalStore } from '../terminal-store.js';

/** What holds wherever terminals are stored. `store` is called for each test, whose sessions are `s` and `u`. */
export function terminalLogCases(
  store: (logs: TestLogs) => TerminalStore | Promise<TerminalStore>,
  databases?: TestDatabases,
): void {
  let logs: TestLogs;
  let log: TerminalLog;
  const bytes = (text: string) => Buffer.from(text);
  const all = async () => (await log.read('s', 'main', 0, 1e9)).toString();

  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    for (const session of ['s', 'u']) await logs.session(session);
    log = new TerminalLog(logs.config, await store(logs));
  });
  afterEach(() => logs.close());

  it('stores bytes once, in order, however often and at once they are sent', async () => {
    await Promise.all([
      log.append('s', 'main', 0, bytes('abc')),
      log.append('s', 'main', 3, bytes('def')),
      log.append('s', 'main', 1, bytes('bcdefg')),
      log.append('s', 'main', 0, bytes('ab')),
    ]);
    expect(await all()).toBe('abcdefg');
    expect(await log.size('s', 'main')).toBe(7);
    expect((await log.read('s', 'main', 2, 4)).toString()).toBe('cd');
    expect((await log.read('s', 'main', 7, 9)).toString()).toBe('');
    expect(await log.list('s')).toEqual([{ terminal: 'main', size: 7 }]);
    expect(await log.list('u')).toEqual([]);
  });

  it('refuses a gap and continues after it', async () => {
    await expect(log.append('s', 'main', 1, bytes('b'))).rejects.toMatchObject({
      code: 'conflict',
    });
    await log.append('s', 'main', 0, bytes('a'));
    expect(await all()).toBe('a');
  });

  it('sends followers only new bytes, with their offset', async () => {
    const received: string[] = [];
    const end = log.subscribe('s', (terminal, offset, fresh) =>
      received.push(`${terminal} ${offset} ${Buffer.from(fresh).toString()}`),
    );
    await log.append('s', 'main', 0, bytes('abc'));
    await log.append('s', 'main', 1, bytes('bcd'));
    await log.append('s', 'main', 0, bytes('abc'));
    end();
    await log.append('s', 'main', 4, bytes('e'));
    expect(received).toEqual(['main 0 abc', 'main 3 d']);
  });

  it('copies a beginning for a session that is created then, and removes what is there', async () => {
    await log.append('s', 'main', 0, bytes('abcdef'));
    await log.copy('s', 't', 'main', 4);
    await logs.session('t');
    expect((await log.read('t', 'main', 0, 10)).toString()).toBe('abcd');
    await log.append('t', 'main', 4, bytes('xyz'));
    await log.remove('s');
    expect(await log.list('s')).toEqual([]);
    expect(await log.size('s', 'main')).toBe(0);
    expect((await log.read('t', 'main', 0, 10)).toString()).toBe('abcdxyz');
  });

  it('shows output to followers, late ones too, without storing it', async () => {
    const received: string[] = [];
    log.subscribe('s', (_, offset, fresh) => received.push(`${offset} ${String(fresh)}`));
    await log.append('s', 'main', 0, bytes('kept '));
    await log.show('s', 'main', 5, bytes('secret'));
    await log.show('s', 'main', 5, bytes('secret!'));
    expect(received).toEqual(['0 kept ', '5 secret', '11 !']);
    expect(await all()).toBe(`kept ${'\0'.repeat(7)}`);
    const live = async (from: number, to: number) =>
      (await log.readLive('s', 'main', from, to)).toString();
    expect(await live(0, 100)).toBe(`kept secret!`);
    expect(await live(7, 9)).toBe('cr');
    expect(await live(0, 5)).toBe('kept ');
    await log.append('s', 'main', 12, bytes(' more'));
    expect(await live(10, 100)).toBe(`t! more`);
    expect(await live(13, 100)).toBe('more');
    await log.copy('s', 't', 'main', 12);
    expect((await log.read('t', 'main', 0, 100)).toString()).not.toContain('secret');
    expect((await log.readLive('t', 'main', 0, 100)).toString()).not.toContain('secret');
  });

  it('keeps no more of it in memory than a viewer needs', async () => {
    const piece = Buffer.alloc(100 * 1024, 'x');
    for (let at = 0; at < 4; at += 1) await log.show('s', 'main', at * piece.length, piece);
    const live = await log.readLive('s', 'main', 0, 1e9);
    expect(live.subarray(-256 * 1024).equals(Buffer.alloc(256 * 1024, 'x'))).toBe(true);
    expect(live.subarray(0, -256 * 1024).every((byte) => byte === 0)).toBe(true);
  });

  it.each(['../x', 'a/b', '', 'Main', '.'])('takes no name such as %j', async (name) => {
    await expect(log.append('s', name, 0, bytes('x'))).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });
}
