import { appendFile, mkdtemp, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '../config.js';
import { TerminalLog } from './terminal-log.js';

describe('the log of a terminal', () => {
  let folder: string;
  let log: TerminalLog;
  const bytes = (text: string) => Buffer.from(text);
  const all = async () => (await log.read('s', 'main', 0, 1e9)).toString();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-terminal-'));
    log = new TerminalLog(new Config({ BELAY_DATA: folder }));
  });
  afterEach(async () => {
    await log.onApplicationShutdown();
    await rm(folder, { recursive: true, force: true });
  });

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
    expect(await log.list('s')).toEqual([{ terminal: 'main', size: 7 }]);
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

  it('continues where a killed process stopped, even in the middle of a write', async () => {
    await log.append('s', 'main', 0, bytes('abcdef'));
    await log.onApplicationShutdown();
    await truncate(join(folder, 'terminals/s/main'), 4);
    log = new TerminalLog(new Config({ BELAY_DATA: folder }));
    expect(await log.size('s', 'main')).toBe(4);
    await log.append('s', 'main', 4, bytes('ef'));
    await appendFile(join(folder, 'terminals/s/main'), '');
    expect(await all()).toBe('abcdef');
  });

  it('keeps many terminals with few open files', async () => {
    const names = Array.from({ length: 300 }, (_, n) => `t${n}`);
    for (const round of [0, 1]) {
      await Promise.all(names.map((name) => log.append('s', name, round * 2, bytes(`${round}\n`))));
    }
    for (const name of names) {
      expect((await log.read('s', name, 0, 10)).toString()).toBe('0\n1\n');
    }
  });

  it('copies a beginning and removes what is there', async () => {
    await log.append('s', 'main', 0, bytes('abcdef'));
    await log.copy('s', 't', 'main', 4);
    expect((await log.read('t', 'main', 0, 10)).toString()).toBe('abcd');
    await log.remove('s');
    expect(await log.list('s')).toEqual([]);
    expect(await log.size('s', 'main')).toBe(0);
  });

  it('shows output to followers, late ones too, without storing it', async () => {
    const received: string[] = [];
    log.subscribe('s', (_, offset, fresh) => received.push(`${offset} ${String(fresh)}`));
    await log.append('s', 'main', 0, bytes('kept '));
    await log.show('s', 'main', 5, bytes('secret'));
    await log.show('s', 'main', 5, bytes('secret!'));
    expect(received).toEqual(['0 kept ', '5 secret', '11 !']);
    expect(await all()).toBe(`kept ${'\0'.repeat(7)}`);
    expect(await readFile(join(folder, 'terminals/s/main'), 'utf8')).toBe(await all());
    const live = async (from: number, to: number) =>
      (await log.readLive('s', 'main', from, to)).toString();
    expect(await live(0, 100)).toBe(`kept secret!`);
    expect(await live(7, 9)).toBe('cr');
    expect(await live(0, 5)).toBe('kept ');
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
});
