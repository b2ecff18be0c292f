import { agentContainer, sidecarContainer } from './container-spec.js';

const limits = { memoryMb: 512, cpus: 1.5 };
const agent = {
  image: 'any:1',
  profile: 'hardened',
  volumes: { workspace: 'w', state: 's' },
  seeded: false,
  runtime: 'runtime',
  ropeFolder: '/ropes/one',
  limits,
  tools: { GOPROXY: 'https://go.test' },
  labels: { 'belay.sandbox': 'one' },
} as const;

it('gives an agent no rights, no network and bounded resources', () => {
  const spec = agentContainer(agent);
  expect(spec).toMatchObject({
    Image: 'any:1',
    User: '1000:1000',
    Entrypoint: ['/opt/belay/node', '--no-experimental-websocket', '/opt/belay/agent.cjs'],
    Labels: { 'belay.sandbox': 'one' },
    NetworkDisabled: true,
    HostConfig: {
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      NetworkMode: 'none',
      Memory: 512 * 2 ** 20,
      MemorySwap: 512 * 2 ** 20,
      NanoCpus: 1_500_000_000,
      PidsLimit: 512,
      LogConfig: { Type: 'local', Config: { 'max-size': '1m' } },
    },
  });
  expect(spec.Env).toContain('GOPROXY=https://go.test');
  expect(spec.HostConfig).not.toHaveProperty('Privileged');
  expect(spec.HostConfig).not.toHaveProperty('Binds');
  const mounts = spec.HostConfig?.Mounts?.map(({ Source, Target, ReadOnly = false }) => ({
    Source,
    Target,
    ReadOnly,
  }));
  expect(mounts).toEqual([
    { Source: 'w', Target: '/workspace', ReadOnly: false },
    { Source: 's', Target: '/var/lib/belay', ReadOnly: false },
    { Source: 'runtime', Target: '/opt/belay', ReadOnly: true },
    { Source: '/ropes/one', Target: '/run/belay', ReadOnly: false },
    { Source: '/ropes/one/hosts', Target: '/etc/hosts', ReadOnly: true },
  ]);
  for (const options of Object.values(spec.HostConfig?.Tmpfs ?? {})) {
    expect(options).toMatch(/exec,nosuid,nodev/);
  }
});

it('gives root what installing packages needs, and nothing that reaches further', () => {
  const usual = agentContainer(agent);
  const root = agentContainer({ ...agent, profile: 'root' });
  expect(root.User).toBe('0:0');
  // As the engine's own: who may install packages may name hosts.
  const mounts = usual.HostConfig?.Mounts?.map((mount) =>
    mount.Target === '/etc/hosts' ? { ...mount, ReadOnly: false } : mount,
  );
  expect(root.HostConfig).toEqual({
    ...usual.HostConfig,
    Mounts: mounts,
    ReadonlyRootfs: false,
    CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID'],
    Tmpfs: expect.objectContaining({ '/tmp': expect.stringContaining('uid=0,gid=0,mode=1777') }),
  });
});

it('lets fresh volumes take over the image’s folders only where these are meant for it', () => {
  const copies = (seeded: boolean) =>
    agentContainer({ ...agent, seeded }).HostConfig?.Mounts?.map(
      ({ VolumeOptions }) => VolumeOptions && !VolumeOptions.NoCopy,
    );
  expect(copies(false)).toEqual([false, false, false, undefined, undefined]);
  expect(copies(true)).toEqual([true, true, false, undefined, undefined]);
});

it('puts a browser on the agent’s own loopback, as bounded as the agent', () => {
  const spec = sidecarContainer({
    image: 'browser:1',
    agent: 'abc',
    user: '0:0',
    workspace: 'w',
    limits,
    labels: {},
  });
  expect(spec.User).toBe('0:0');
  expect(spec.HostConfig).toMatchObject({
    Tmpfs: { '/tmp': expect.stringContaining('uid=0,gid=0') as string },
    NetworkMode: 'container:abc',
    CapDrop: ['ALL'],
    ReadonlyRootfs: true,
    PidsLimit: 512,
  });
  expect(spec.Cmd).toContain('--remote-debugging-address=127.0.0.1');
});
