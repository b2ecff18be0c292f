import {
  agentContainer,
  containerName,
  sidecarContainer,
  withVolumesInMemory,
} from './container-spec.js';

const limits = { memoryMb: 512, cpus: 1.5 };
const agent = {
  name: 'belay-one',
  image: 'any:1',
  profile: 'hardened',
  volumes: { workspace: 'w', state: 's' },
  seeded: false,
  runtime: 'runtime',
  socketFolder: '/connections/one',
  shared: [],
  limits,
  tools: { GOPROXY: 'https://go.test' },
  labels: { 'belay.sandbox': 'one' },
} as const;

it('names containers after their label', () => {
  expect(containerName('0mabc-12')).toBe('belay-0mabc-12');
  expect(containerName('0mabc-12', 'volumes')).toBe('belay-0mabc-12-volumes');
  expect(containerName('a b/c')).toBe('belay-a_b_c');
});

it('gives an agent no rights, no network and bounded resources', () => {
  const spec = agentContainer(agent);
  expect(spec).toMatchObject({
    Image: 'any:1',
    User: '0:0',
    Entrypoint: [
      '/opt/belay/node',
      '--no-experimental-websocket',
      '--disable-sigusr1',
      '--v8-pool-size=1',
      '--min-semi-space-size=16',
      '/opt/belay/start.cjs',
    ],
    Labels: { 'belay.sandbox': 'one', 'belay.user': '1000:1000' },
    NetworkDisabled: true,
    HostConfig: {
      CapDrop: ['ALL'],
      CapAdd: ['SETGID', 'SETUID'],
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
  expect(spec.Env).toEqual(expect.arrayContaining(['GOPROXY=https://go.test', 'BELAY_USER=1000']));
  // An image’s own could be a folder that programs write to.
  expect(spec.Env).toContain('NODE_COMPILE_CACHE=');
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
    { Source: '/connections/one', Target: '/run/belay', ReadOnly: true },
    { Source: '/connections/one/hosts', Target: '/etc/hosts', ReadOnly: true },
  ]);
  for (const options of Object.values(spec.HostConfig?.Tmpfs ?? {})) {
    expect(options).toMatch(/exec,nosuid,nodev/);
  }
});

it('gives root what installing packages needs, and nothing that reaches further', () => {
  const usual = agentContainer(agent);
  const root = agentContainer({ ...agent, profile: 'root' });
  expect(root.User).toBe('0:0');
  expect(root.Env).toContain('BELAY_USER=0');
  expect(root.Labels).toMatchObject({ 'belay.user': '0:0' });
  // As the engine’s own: who may install packages may name hosts.
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
    name: 'belay-one-browser',
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

it('has the volumes that an image declares in bounded memory, but where something is mounted', () => {
  const { HostConfig: config } = agentContainer(agent);
  const declared = { '/data/': {}, '/workspace': {}, '/tmp': {} };
  const { Mounts = [] } = withVolumesInMemory(config, declared);
  expect(Mounts.slice(config?.Mounts?.length)).toEqual([
    {
      Type: 'tmpfs',
      Source: '',
      Target: '/data',
      TmpfsOptions: { SizeBytes: (limits.memoryMb * 2 ** 20) / 2, Mode: 0o1777 },
    },
  ]);
  expect(withVolumesInMemory(config, null).Mounts).toEqual(config?.Mounts);
  const owned = withVolumesInMemory(config, declared, 1000);
  expect(owned.Mounts).toEqual(config?.Mounts);
  expect(owned.Tmpfs?.['/data']).toContain(',uid=1000,gid=1000,');
});
