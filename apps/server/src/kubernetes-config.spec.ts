import { Config } from './config.js';

const needed = {
  BELAY_ENGINE: 'kubernetes',
  BELAY_RUNTIME_IMAGE: 'registry.example.com/belay/runtime:1',
  BELAY_AGENT_URL: 'wss://192.0.2.1:4601',
};

describe('the settings of Kubernetes', () => {
  it('are off unless they are asked for', () => {
    const { BELAY_ENGINE: _, ...others } = needed;
    expect(new Config(others).kubernetes).toBeUndefined();
  });

  it('name the cluster, and where pods connect', () => {
    const set = { ...needed, KUBECONFIG: '/etc/belay/kubeconfig', BELAY_NAMESPACE: 'agents' };
    expect(new Config(set).kubernetes).toEqual({
      kubeconfig: '/etc/belay/kubeconfig',
      namespace: 'agents',
      runtimeImage: needed.BELAY_RUNTIME_IMAGE,
      listen: { host: '0.0.0.0', port: 4601 },
      url: needed.BELAY_AGENT_URL,
      filesMb: 10_240,
      storageClass: undefined,
      scheduling: {},
      files: 'claims',
      agentSandbox: false,
      allowUnconfined: false,
    });
  });

  it('take the port of the URL, also the standard one', () => {
    const standard = new Config({ ...needed, BELAY_AGENT_URL: 'wss://192.0.2.1:443' });
    expect(standard.kubernetes?.listen.port).toBe(443);
  });

  it('say where and how the cluster runs pods', () => {
    const scheduling = {
      nodeSelector: { pool: 'agents' },
      tolerations: [{ key: 'agents', operator: 'Exists', effect: 'NoSchedule' }],
      priorityClassName: 'low',
    };
    const set = {
      BELAY_RUNTIME_CLASS: 'gvisor',
      BELAY_POD_SCHEDULING: JSON.stringify(scheduling),
    };
    expect(new Config({ ...needed, ...set }).kubernetes?.scheduling).toEqual({
      ...scheduling,
      runtimeClassName: 'gvisor',
    });
  });

  it('allow pods that are not confined if they say so', () => {
    const allowed = new Config({ ...needed, BELAY_ALLOW_UNCONFINED: 'true' });
    expect(allowed.kubernetes?.allowUnconfined).toBe(true);
  });

  it.each([
    [{ BELAY_AGENT_URL: '' }, 'needs BELAY_RUNTIME_IMAGE and BELAY_AGENT_URL'],
    [{ BELAY_RUNTIME_IMAGE: '' }, 'needs BELAY_RUNTIME_IMAGE and BELAY_AGENT_URL'],
    [{ BELAY_AGENT_URL: 'wss://192.0.2.1' }, 'BELAY_AGENT_URL: write it with a port'],
    [{ BELAY_AGENT_URL: 'https://192.0.2.1:4601' }, 'BELAY_AGENT_URL: write wss://HOST:PORT'],
    [{ BELAY_ENGINE: 'podman' }, 'BELAY_ENGINE'],
    [{ BELAY_FILES: 'disk' }, 'BELAY_FILES'],
    [{ BELAY_FILES: 'pods', BELAY_COPY_MB: '0' }, 'BELAY_FILES=pods needs copies of steps'],
    [{ BELAY_RUNTIME_CLASS: 'gVisor' }, 'BELAY_RUNTIME_CLASS: write the name of a class'],
    [{ BELAY_POD_SCHEDULING: 'pool=agents' }, 'BELAY_POD_SCHEDULING: write JSON, such as {'],
    [
      { BELAY_POD_SCHEDULING: '{"hostNetwork":true}' },
      'BELAY_POD_SCHEDULING: Unrecognized key: "hostNetwork"',
    ],
    [
      { BELAY_POD_SCHEDULING: '{"nodeSelector":{"pool":1}}' },
      'BELAY_POD_SCHEDULING.nodeSelector.pool: Invalid input: expected string',
    ],
    [
      { BELAY_POD_SCHEDULING: '{"tolerations":[{"effect":"Never"}]}' },
      'BELAY_POD_SCHEDULING.tolerations.0.effect: Invalid option',
    ],
    [{ BELAY_ALLOW_UNCONFINED: 'yes' }, 'BELAY_ALLOW_UNCONFINED: write true or false'],
  ])('refuse %j', (wrong: Record<string, string>, fault) => {
    expect(() => new Config({ ...needed, ...wrong })).toThrow(fault);
  });

  it('distinguish servers by where their pods connect', () => {
    const ports = ['4601', '4602'].map(
      (port) =>
        new Config({ ...needed, BELAY_DATA: '/data', BELAY_AGENT_URL: `wss://192.0.2.1:${port}` })
          .instance,
    );
    expect(new Set(ports).size).toBe(2);
  });
});
