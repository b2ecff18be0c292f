import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackgroundServer } from './background-server.js';

describe('the server in the background', () => {
  let folder: string;
  let child: ChildProcess;
  let server: BackgroundServer;
  const { XDG_STATE_HOME } = process.env;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belay-state-'));
    process.env.XDG_STATE_HOME = folder;
    child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    await once(child, 'spawn');
    server = new BackgroundServer({ data: join(folder, 'data') });
  });
  afterEach(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
    if (XDG_STATE_HOME === undefined) delete process.env.XDG_STATE_HOME;
    else process.env.XDG_STATE_HOME = XDG_STATE_HOME;
  });
  const pidFile = () => {
    const names = readdirSync(join(folder, 'belay'));
    return join(folder, 'belay', names.find((name) => name.endsWith('.pid')) ?? 'none');
  };

  it('is known by its file, which is for its user alone, and ended', async () => {
    server.remember(child.pid ?? 0);
    expect(server.running()).toMatchObject({ pid: child.pid });
    expect(statSync(pidFile()).mode & 0o777).toBe(0o600);
    const exit = once(child, 'exit');
    await server.end(5_000);
    expect(await exit).toEqual([null, 'SIGTERM']);
    expect(server.running()).toBeUndefined();
  });

  it('is not another process that has its number now: that one gets no signal', async () => {
    server.remember(child.pid ?? 0);
    const content = JSON.parse(readFileSync(pidFile(), 'utf8')) as Record<string, unknown>;
    writeFileSync(pidFile(), JSON.stringify({ ...content, start: '1 another boot' }));
    const kill = jest.spyOn(process, 'kill');
    await server.end(100);
    expect(kill).not.toHaveBeenCalled();
    kill.mockRestore();
    expect(server.running()).toBeUndefined();
    expect(child.exitCode ?? child.signalCode).toBeNull();
    expect(readdirSync(join(folder, 'belay'))).toEqual([]);
  });

  it.each(['', '{"pid":-1,"start":"1","since":"x"}', '{"pid":1'])(
    'is none when its file says %j',
    (content) => {
      server.remember(child.pid ?? 0);
      writeFileSync(pidFile(), content);
      expect(server.running()).toBeUndefined();
    },
  );

  it('has a log of its own for each data folder, and keeps the one before', () => {
    const other = new BackgroundServer({ data: join(folder, 'other') });
    expect(other.log).not.toBe(server.log);
    server.turnLog();
    writeFileSync(server.log, 'first');
    server.turnLog();
    expect(readFileSync(`${server.log}.1`, 'utf8')).toBe('first');
    expect(readFileSync(server.log, 'utf8')).toBe('');
  });
});
