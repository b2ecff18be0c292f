import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackgroundServer } from '../background/background-server.js';
import { joinedFolder } from '../join/joined.js';
import { rememberEngine } from '../join/used-engines.js';
import { leaveServer } from './leave.js';

describe('belay leave', () => {
  const server = 'http://127.0.0.1:4600';
  const other = 'http://127.0.0.1:4700';
  const { XDG_DATA_HOME, XDG_STATE_HOME } = process.env;
  let home: string;
  let folder: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'belay-leave-'));
    Object.assign(process.env, { XDG_DATA_HOME: home, XDG_STATE_HOME: home });
    folder = joined(server);
    jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    for (const [name, value] of Object.entries({ XDG_DATA_HOME, XDG_STATE_HOME }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    rmSync(home, { recursive: true });
  });

  function joined(url: string): string {
    const made = joinedFolder(new URL(url));
    mkdirSync(made, { recursive: true });
    const machine = { url, id: 'm', name: 'box', credential: 'c', kind: 'bare' };
    writeFileSync(join(made, 'machine.json'), JSON.stringify(machine));
    return made;
  }

  it('removes what the machine has of this server, and of no other', async () => {
    const kept = joined(other);
    expect(await leaveServer(server, { yes: true })).toBe(0);
    expect([folder, kept].map(existsSync)).toEqual([false, true]);
  });

  it('names the servers that the machine has joined for an address that is none of them', async () => {
    joined(other);
    const mistyped = () => leaveServer('http://127.0.0.1:4601', { yes: true });
    await expect(mistyped()).rejects.toThrow(
      `This machine has not joined http://127.0.0.1:4601. Name one that it has joined: ${server}, ${other}`,
    );
    expect(existsSync(joinedFolder(new URL('http://127.0.0.1:4601')))).toBe(false);
    for (const url of [server, other]) expect(await leaveServer(url, { yes: true })).toBe(0);
    await expect(mistyped()).rejects.toThrow('It has joined no server.');
  });

  it('removes the containers and volumes in the engines that the agents ran in', async () => {
    const engines = await Promise.all(['first', 'later'].map((name) => playedEngine(home, name)));
    for (const { host } of engines) rememberEngine(folder, host);
    expect(await leaveServer(server, { yes: true })).toBe(0);
    const removed = ['/containers/c?force=true&v=true', '/volumes/v'];
    for (const engine of engines) {
      expect(engine.deleted.map((path) => path.replace(/^\/v[\d.]+/, ''))).toEqual(removed);
      await engine.close();
    }
    expect(existsSync(folder)).toBe(false);
  });

  it('keeps everything while an engine does not respond', async () => {
    rememberEngine(folder, `unix://${home}/gone.sock`);
    await expect(leaveServer(server, { yes: true })).rejects.toThrow('Docker does not respond');
    expect(existsSync(join(folder, 'machine.json'))).toBe(true);
  });

  it('removes nothing without a confirmation', async () => {
    await expect(leaveServer(server, {})).rejects.toThrow('confirm it with --yes');
    expect(existsSync(folder)).toBe(true);
  });

  it('removes nothing while agents may run', async () => {
    const joining = new BackgroundServer({ data: folder });
    joining.remember(process.pid);
    const refused = leaveServer(server, { yes: true });
    await expect(refused).rejects.toThrow(`stop “belay join” (process ${process.pid}) first`);
    expect(existsSync(folder)).toBe(true);
    joining.forget();
    expect(await leaveServer(server, { yes: true })).toBe(0);
  });
});

/** An engine on a socket, with one container and one volume. */
async function playedEngine(folder: string, name: string) {
  const socket = join(folder, `${name}.sock`);
  const deleted: string[] = [];
  const engine = createServer(({ method, url = '' }, response) => {
    if (method === 'DELETE') {
      deleted.push(url);
      response.writeHead(204).end();
    } else if (url.includes('/containers/json'))
      response.end(JSON.stringify([{ Id: 'c', Names: ['/c'], State: 'exited', Labels: {} }]));
    else response.end(JSON.stringify({ Volumes: [{ Name: 'v' }] }));
  });
  await once(engine.listen(socket), 'listening');
  const close = async (): Promise<void> => {
    engine.closeAllConnections();
    await once(engine.close(), 'close');
  };
  return { host: `unix://${socket}`, deleted, close };
}
