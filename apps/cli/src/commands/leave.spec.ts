import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackgroundServer } from '../background/background-server.js';
import { joinedFolder } from '../join/joined.js';
import { leaveServer } from './leave.js';

describe('belay leave', () => {
  const server = 'http://127.0.0.1:4600';
  const { XDG_DATA_HOME, XDG_STATE_HOME } = process.env;
  let home: string;
  let folder: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'belay-leave-'));
    Object.assign(process.env, { XDG_DATA_HOME: home, XDG_STATE_HOME: home });
    folder = joinedFolder(new URL(server));
    const machine = { url: server, id: 'm', name: 'box', credential: 'c', kind: 'bare' };
    writeFileSync(join(folder, 'machine.json'), JSON.stringify(machine));
    jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    for (const [name, value] of Object.entries({ XDG_DATA_HOME, XDG_STATE_HOME }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    rmSync(home, { recursive: true });
  });

  it('removes what the machine has of this server, and of no other', async () => {
    const other = joinedFolder(new URL('http://127.0.0.1:4700'));
    expect(await leaveServer(server, { yes: true })).toBe(0);
    expect([folder, other].map(existsSync)).toEqual([false, true]);
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
