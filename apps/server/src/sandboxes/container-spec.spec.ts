import { agentContainer, sidecarContainer } from './container-spec.js';

const limits = { memoryMb: 512, cpus: 1.5 };

it('gives an agent no rights, no network and bounded resources', () => {
  const spec = agentContainer({
    image: 'any:1',
    volumes: { workspace: 'w', state: 's' },
    runtime: 'runtime',
    ropeFolder: '/ropes/one',
    limits,
    labels: { 'belay.sandbox': 'one' },
  });
  expect(spec).toMatchObject({
    Image: 'any:1',
    User: '1000:1000',
    Entrypoint: ['/opt/belay/node', '--no-experimental-websocket', '/opt/belay/agent.cjs'],
    Labels: { 'belay.sandbox': 'one' },
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
  ]);
  for (const options of Object.values(spec.HostConfig?.Tmpfs ?? {})) {
    expect(options).toMatch(/exec,nosuid,nodev/);
  }
});

it('puts a browser on the agent’s own loopback, as bounded as the agent', () => {
  const spec = sidecarContainer({
    image: 'browser:1',
    agent: 'abc',
    workspace: 'w',
    limits,
    labels: {},
  });
  expect(spec.HostConfig).toMatchObject({
    NetworkMode: 'container:abc',
    CapDrop: ['ALL'],
    ReadonlyRootfs: true,
    PidsLimit: 512,
  });
  expect(spec.Cmd).toContain('--remote-debugging-address=127.0.0.1');
});
