import { Readable } from 'node:stream';
import * as client from '@kubernetes/client-node';
import type { ContainerSpec, ProgramSpec } from '../container-host.js';
import { agentSandboxOf } from './agent-sandbox.js';
import { Cluster } from './cluster.js';
import type { KubernetesHost, KubernetesHostOptions } from './kubernetes-host.js';
import type { PodPlace } from './pod-parts.js';
import type { PodScheduling } from './pod-scheduling.js';
import { agentPod } from './pod-spec.js';
import { kubernetesFaults, postedFaults } from './testing/kubernetes-faults.js';
import { MemoryImageFiles } from './testing/memory-image-files.js';
import { PlayedHosts } from './testing/played-hosts.js';

const limits = { memoryMb: 256, cpus: 1 };
const browser = { image: 'sandbox:1', limits };
const never = new AbortController().signal;

const agent: ContainerSpec = {
  id: 'agent-hardened',
  label: 'session “one”',
  labels: { 'belay.data': '/var/lib/belay' },
  image: 'other:1',
  rights: 'hardened',
  limits,
  env: { CI: 'true' },
  files: 'files-hardened',
  folders: [],
  keptFiles: [
    { name: 'Home of an agent', path: '/home/agent', readOnly: false },
    { name: 'program', path: '/opt/program', readOnly: true },
  ],
  placedFiles: [{ path: '/etc/agent.json', text: '{}' }],
};
const agents: ContainerSpec[] = [
  agent,
  { ...agent, id: 'agent-root', rights: 'root', image: 'sandbox:1', files: 'files-root' },
  { ...agent, id: 'agent-plain', keptFiles: [], placedFiles: [], env: {} },
];

const program: ProgramSpec = {
  id: 'program',
  label: 'action',
  labels: {},
  image: 'other:1',
  rights: 'program',
  user: 1000,
  limits,
  scratch: [
    { path: '/tmp', mb: 16 },
    { path: '/input', mb: 1, readOnly: true },
  ],
  workspace: null,
  folders: [],
  services: [
    { name: 'db', image: 'postgres:1', command: undefined, env: { A: 'b' }, limits },
    { name: 'cache', image: 'redis:1', command: ['redis', '--save'], env: {}, limits },
  ],
  archive: null,
  writtenMb: 64,
};
const programs: ProgramSpec[] = [
  program,
  { ...program, id: 'program-build', rights: 'build', services: [] },
  { ...program, id: 'program-root', user: 0, scratch: [], services: [] },
];
const build: ProgramSpec = {
  ...program,
  id: 'program-archive',
  rights: 'build',
  services: [],
  archive: Buffer.from('tar'),
};
const made: ProgramSpec = { ...program, id: 'program-made' };
const service = { name: 'own', image: '', command: ['serve'], env: {}, limits };
const imageFiles = new MemoryImageFiles();
const inWorkspace: ProgramSpec = {
  ...program,
  id: 'program-workspace',
  workspace: { files: agent.files, readOnly: true },
};

/** All that a host makes objects for. */
async function use(host: KubernetesHost): Promise<void> {
  expect((await host.checks()).filter(({ ok }) => !ok)).toEqual([]);
  expect(await host.confinement()).toMatchObject([{ ok: true }]);
  for (const one of agents) await host.start(one, never);
  const all = host.keepsFiles ? [...programs, inWorkspace] : programs;
  for (const one of all) await host.startProgram(one, never);
  await makeImage(host);
  expect(await host.images.fetch('other:1')).toBe(false);
  const tar = new Readable({ read: () => tar.destroy(new Error('It ends too early.')) });
  // Of a name that no pod uses: the cluster would keep a claim until its pods are gone.
  await expect(host.keptFiles.fill('program-2', tar)).rejects.toThrow('too early');
}

/** From a build whose pod has ended; a program and a service run the image. */
async function makeImage(host: KubernetesHost): Promise<void> {
  await host.startProgram(build, never);
  const about = { name: 'action:1', entrypoint: ['/usr/bin/env'], user: '1000:1000' };
  await expect(host.images.make(build.id, about)).rejects.toThrow('were not kept');
  await imageFiles.put(`images/${build.id}.layer`, Buffer.from('zstd'));
  const image = await host.images.make(build.id, about);
  expect(await host.images.madeAs('action:1')).toBe(image);
  await host.startProgram({ ...made, image, services: [{ ...service, image }] }, never);
  expect(await host.images.fetch(image)).toBe(false);
  await host.images.remove(image);
  const again = host.startProgram({ ...made, id: 'program-gone', image }, never);
  await expect(again).rejects.toThrow('not there any more');
}

const scheduling: PodScheduling = {
  runtimeClassName: 'gvisor',
  nodeSelector: { 'example.com/pool': 'agents' },
  tolerations: [
    { key: 'agents', operator: 'Equal', value: 'only', effect: 'NoSchedule' },
    { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
  ],
  priorityClassName: 'agents',
};

const variants: [name: string, options: Partial<KubernetesHostOptions>][] = [
  ['files in claims', { storageClass: 'fast', browser }],
  ['a class, nodes and a priority of their own', { scheduling }],
  [
    'files in pods, Sandbox objects, and nothing that confines them',
    {
      agentSandbox: true,
      podFiles: { isOn: true, setting: 'FILES' },
      unconfined: { isAllowed: true, setting: 'ALLOW' },
      scheduling,
    },
  ],
];

describe('every object that is made', () => {
  const hosts = new PlayedHosts();
  const { cluster, kubeconfig } = hosts;
  const passed: unknown[] = [];
  const makers = namesIn(Cluster.prototype).map((name) => jest.spyOn(Cluster.prototype, name));

  beforeAll(async () => {
    await hosts.play();
    for (const [name, api] of Object.entries(client))
      if (name.endsWith('Api')) noteBodies((api as { prototype: object }).prototype, passed);
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await hosts.close();
  });
  afterEach(() => {
    passed.length = 0;
    cluster.posted.length = 0;
  });

  it.each(variants)('is valid by the schemas of Kubernetes, with %s', async (_, options) => {
    const host = await hosts.open({ ...options, imageFiles });
    try {
      await use(host);
    } finally {
      await host.close();
    }
    const faults = cluster.posted.map(({ path, body }) => postedFaults(path, body));
    expect(faults.flat()).toEqual([]);
    expect(unsent(passed, cluster.posted)).toEqual([]);
    const pods = cluster.posted.filter(({ path }) => /(pods|sandboxes)$/.test(path));
    // Two that try the network, one that looks at an image, one that fills files, and two for a made image.
    expect(pods.length).toBe(agents.length + programs.length + (host.keepsFiles ? 7 : 6));
    const { tolerations: own = [], ...others } = options.scheduling ?? {};
    // The cluster takes the first one that fits.
    const tolerations = [...own, ...[0, 1].map(() => expect.anything() as object)];
    for (const { body } of pods) expect(podSpecIn(body)).toMatchObject({ ...others, tolerations });
  });

  it('was made above', () => {
    expect(makers.length).toBeGreaterThan(3);
    for (const maker of makers) expect(maker).toHaveBeenCalled();
  });

  it('is compared with what was passed to the client, which drops fields that it does not know', async () => {
    const misspelt = { metadata: { name: 'a' }, stringDate: { token: 'x' } };
    const options = { kubeconfig, namespace: 'agents', agentSandbox: false };
    await new Cluster(options).createSecret(misspelt);
    expect(cluster.posted).toMatchObject([{ body: { metadata: { name: 'a' } } }]);
    expect(unsent(passed, cluster.posted)).toEqual([misspelt]);
  });
});

describe('the schemas of Kubernetes', () => {
  const place: PodPlace = {
    instance: 'abc',
    labels: {},
    runtimeImage: 'runtime:1',
    address: 'wss://192.0.2.1:4601',
    trusted: 'PEM',
    tokenHash: 'hash',
    podFilesMb: null,
    browser,
    isConfined: true,
    scheduling: {},
  };
  const { metadata, spec } = agentPod(agent, place);
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
  const sandbox = agentSandboxOf(pod);
  const inSpec = (more: object) => ({ ...pod, spec: Object.assign({}, spec, more) });
  const container = (more: object) => inSpec({ containers: [{ name: 'first', ...more }] });
  const template = (more: object) => ({
    ...sandbox,
    spec: { podTemplate: { spec: { containers: [], ...more } } },
  });

  it('take a pod and a Sandbox', () => {
    expect(kubernetesFaults(pod)).toEqual([]);
    expect(kubernetesFaults(sandbox)).toEqual([]);
    expect(kubernetesFaults(template({}))).toEqual([]);
  });

  it.each([
    ['a misspelt field', inSpec({ hostAliase: [] }), /^\/spec .*hostAliase$/],
    ['one of a container', container({ imagePullPolice: 'Never' }), /^\/spec\/containers\/0 /],
    ['a missing field', inSpec({ containers: undefined }), /required property 'containers'/],
    ['a type', inSpec({ terminationGracePeriodSeconds: '1' }), /must be integer/],
    ['a quantity', container({ resources: { limits: { cpu: {} } } }), /cpu must be string/],
    ['a value', container({ imagePullPolicy: 'Sometimes' }), /allowed values/],
    ['a field of a Sandbox', template({ dnsPolice: 'None' }), /dnsPolice$/],
    ['a quantity of a Sandbox', quantityOf('64 MB'), /must match pattern/],
    ['a status, which nobody but the cluster writes', { ...pod, status: {} }, /status$/],
  ])('refuse %s', (_, object, fault) => {
    expect(kubernetesFaults(object).join('\n')).toMatch(fault);
  });

  function quantityOf(memory: string) {
    return template({ containers: [{ name: 'first', resources: { limits: { memory } } }] });
  }

  it('refuse an object of another kind, and know those alone that they have', () => {
    expect(postedFaults('/api/v1/namespaces/any/secrets', { kind: 'Pod' })).toEqual([
      '/ is a Pod of v1',
    ]);
    expect(() => postedFaults('/api/v1/namespaces/any/configmaps', {})).toThrow('no schema for');
    expect(() => kubernetesFaults({ apiVersion: 'v1', kind: 'ConfigMap' })).toThrow(
      'no schema for ConfigMap of v1',
    );
  });
});

/** Of a Pod or a Sandbox. */
function podSpecIn({ spec }: { spec?: unknown }) {
  const { podTemplate } = spec as { podTemplate?: { spec: object } };
  return podTemplate?.spec ?? spec;
}

type Maker = Extract<keyof Cluster, `create${string}`>;

function namesIn(prototype: object): Maker[] {
  return Object.getOwnPropertyNames(prototype).filter((name): name is Maker =>
    name.startsWith('create'),
  );
}

/** Notes the bodies that methods of an API are given. */
function noteBodies(api: object, bodies: unknown[]): void {
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(api)))
    if (/^(create|replace|patch)/.test(name) && typeof value === 'function')
      jest
        .spyOn(api as Record<string, (request: { body?: unknown }) => unknown>, name)
        .mockImplementation(function (this: unknown, request) {
          bodies.push(request.body);
          return value.call(this, request);
        });
}

/** What did not arrive as it was passed. */
const unsent = (bodies: readonly unknown[], arrived: readonly { body: unknown }[]): unknown[] => {
  const sent = arrived.map(({ body }) => JSON.stringify(sorted(body)));
  return bodies.filter((body) => !sent.includes(JSON.stringify(sorted(body))));
};

/** With the fields of all objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}
