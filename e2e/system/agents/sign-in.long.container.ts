import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isEvent, type AgentChoice } from '@belay/protocol';
import { eventually, until } from '@belay/testing';
import { belay, BelayServer, containerOf, docker, Followed, prepared } from '@belay/testkit';
import { agentTable } from '../../../apps/server/src/agents/agent-table.js';
import { tarOf } from '../../../apps/server/src/agents/testing/package-registry.js';
import { Config } from '../../../apps/server/src/config.js';

const home = '/var/lib/belay/login';
const [entry] = [...agentTable.values()].filter(({ login }) => login !== null);
const name = entry?.name ?? '';
const folder = `/opt/agents/${name}`;

/** In the place of the agent's program: signs in where its user does, as vendors do it without a browser. */
const played = `#!/bin/sh
if [ -f ${home}/credential ]; then
  echo "Welcome back"
else
  echo "Open https://vendor.test and enter SECRET-CODE"
  read -r code
  echo SECRET-TOKEN > ${home}/credential
  printf '\\033]9;SECRET-TOKEN\\a'
  echo "Your token is SECRET-TOKEN"
fi
env | grep -E '_(BASE_URL|TOKEN|API_KEY)=' && echo "It has a gateway"
echo work > /workspace/work.txt
echo ready
read -r end
`;

describe('a user’s own sign-in', () => {
  const server = new BelayServer();
  beforeAll(async () => {
    await install(server);
    await server.start();
  });
  afterAll(() => server.dispose());

  const begin = async (): Promise<Followed> => {
    const agent = { name, login: true };
    const wanted = { task: 'Sign me in', model: 'none:none', agent };
    const { id } = await server.client.sessions.create(wanted);
    return new Followed(server, id);
  };
  const type = (session: Followed, data: string) =>
    server.live.request('terminal.keys', { session: session.id, terminal: 'agent', data });
  const listed = async (): Promise<AgentChoice['login']> =>
    (await server.client.agents.list()).find((one) => one.name === name)?.login;
  const volumes = async (): Promise<string[]> => {
    const filters = JSON.stringify({ label: ['belay.login', `belay.data=${server.data}`] });
    return (await docker.listVolumes({ filters: filters as never })).Volumes.map(
      ({ Name }) => Name,
    );
  };

  it('stays in its volume, from one session to the next, until its user logs out', async () => {
    const begun = await begin();
    await begun.printed('enter SECRET-CODE', 'agent');
    begun.close();
    // A page that comes late sees it, too.
    const first = new Followed(server, begun.id);
    await first.printed('enter SECRET-CODE', 'agent');
    await expect(begin()).rejects.toThrow(`used by the session ${first.id}`);
    await type(first, 'typed-SECRET\r');
    await first.printed('ready', 'agent');
    expect(first.terminal('agent')).toContain('Your token is SECRET-TOKEN');
    expect(first.terminal('agent')).not.toContain('It has a gateway');

    await server.end('SIGKILL');
    await server.start();
    first.follow();
    await expect(begin()).rejects.toThrow(`used by the session ${first.id}`);
    const typed = () =>
      type(first, '\r').then(
        () => true,
        () => false,
      );
    await until('its agent is back', typed);
    await first.finished();
    const bundle = await server.client.sessions.export(first.id, { format: 'tar' });
    expect(Buffer.from(bundle).toString('latin1')).toContain('work.txt');
    expect(Buffer.from(bundle).toString('latin1')).not.toContain('SECRET');
    expect(filesWith('Sign me in', server.data).length).toBeGreaterThan(0);
    expect(filesWith('SECRET', server.data)).toEqual([]);
    expect(JSON.stringify(first.events)).not.toContain('SECRET');
    expect(first.events.some((event) => isEvent(event, 'commit'))).toBe(true);

    const second = await begin();
    await second.printed('Welcome back', 'agent');
    // That of the first, which was woken for its files, has not got it.
    const mountsOf = async (session: string) =>
      (await (await containerOf(session)).inspect()).Mounts.map(({ Destination }) => Destination);
    expect(await mountsOf(second.id)).toContain(home);
    await server.client.sessions.wake(first.id);
    expect(await mountsOf(first.id)).not.toContain(home);
    expect(await listed()).toBe('kept');
    expect(await volumes()).toHaveLength(1);
    const busy = await belay(server.data, ['agents', 'logout', name]);
    expect(busy.code).not.toBe(0);
    expect(busy.stderr).toContain('Stop that one first');
    await type(second, '\r');
    await second.finished();
    await eventually(async () => {
      expect(await belay(server.data, ['agents', 'logout', name])).toMatchObject({ code: 0 });
    });
    expect(await listed()).toBe('possible');
    expect(await volumes()).toEqual([]);
    for (const session of [first, second]) session.close();
  });

  it('begins anew after that', async () => {
    const session = await begin();
    await session.printed('enter SECRET-CODE', 'agent');
    await server.client.sessions.stop(session.id);
    await session.state('stopped');
    await until('its sandbox is gone', async () =>
      containerOf(session.id).then(
        () => false,
        () => true,
      ),
    );
    session.close();
  });
});

/** Puts the played program where the server finds an installed agent. */
async function install(server: BelayServer): Promise<void> {
  const start = {
    node: '',
    root: folder,
    arch: process.arch as 'x64',
    clib: 'glibc',
    home,
  } as const;
  const more = { gateway: '', token: '', format: 'chat', model: '', small: '' } as const;
  const command = entry?.login?.command({ ...start, ...more, task: null, trusted: false }) ?? [];
  const program = command.find((part) => part.startsWith(`${folder}/`)) ?? '';
  // Only volumes of the server’s own engine count.
  const { instance } = new Config({ BELAY_DATA: server.data });
  const volume = `belay-agent-${instance}-${name}-played`;
  const labels = { 'belay.data': server.data };
  await docker.createVolume({ Name: volume, Labels: labels });
  const container = await docker.createContainer({
    Image: prepared('BELAY_TEST_IMAGE'),
    Cmd: ['-'],
    Labels: labels,
    HostConfig: { Mounts: [{ Type: 'volume', Source: volume, Target: folder }] },
  });
  const file = { name: program.slice(folder.length + 1), mode: 0o755, content: played };
  await container.putArchive(await tarOf([file]), { path: folder });
  await container.remove();
  const volumes = [{ name: volume, libraries: ['glibc', 'musl'] }];
  const installed = new Date().toISOString();
  const version = { name, version: '1.0.0', installed, volumes, retired: false };
  writeFileSync(
    join(server.data, 'agents.json'),
    JSON.stringify({ installed: [version], custom: [] }),
    { mode: 0o600 },
  );
}

/** The files of a folder that have this text. */
function filesWith(text: string, where: string): string[] {
  const { stdout } = spawnSync('grep', ['-rla', text, where], { encoding: 'utf8' });
  return stdout.split('\n').filter(Boolean);
}
