import { chartFolder, renderChart, clusterCommand } from '@belay/testkit';
import { randomBytes } from 'node:crypto';
import { parseAllDocuments } from 'yaml';
import { kubernetesFaults } from '../../libs/containers/src/kubernetes/testing/kubernetes-faults.js';

type Values = Record<string, unknown>;

const sandboxes = { image: 'belay/sandbox:1', runtimeImage: 'belay/runtime:1' };
const replicated = {
  replicas: 2,
  existingSecret: 'belay-secrets',
  database: { existingSecret: 'database', key: 'uri' },
  storage: 's3://bucket/belay',
  persistence: { accessModes: ['ReadWriteMany'] },
};
const spread = {
  maxSkew: 1,
  topologyKey: 'kubernetes.io/hostname',
  whenUnsatisfiable: 'ScheduleAnyway',
  labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'belay' } },
};
const peer = { namespaceSelector: { matchLabels: { team: 'agents' } } };

const admitted: [name: string, values: Values][] = [
  ['the defaults', { sandboxes }],
  ['two replicas with one volume', { server: { ...replicated, storage: '' }, sandboxes }],
  [
    'two replicas with a bucket',
    { server: { ...replicated, persistence: { enabled: false } }, sandboxes },
  ],
  [
    'no volume, and probes of its own',
    {
      server: {
        ...replicated,
        replicas: 1,
        persistence: { enabled: false },
        livenessProbe: { exec: { command: ['true'] } },
      },
      sandboxes,
    },
  ],
  [
    'an ingress with previews',
    {
      server: {
        ingress: {
          enabled: true,
          className: 'any',
          annotations: { 'example.com/timeout': '3600' },
          host: 'belay.example.com',
          previewHost: 'preview.example.com',
          tlsSecret: 'certificate',
        },
      },
      sandboxes,
    },
  ],
  [
    'metrics, and policies in both directions',
    {
      server: {
        metrics: { enabled: true },
        networkPolicy: {
          from: [peer],
          metricsFrom: [peer],
          egress: [{ to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 5432 }] }],
        },
      },
      sandboxes,
    },
  ],
  [
    'an account, a claim and a namespace that are there already',
    {
      server: { persistence: { existingClaim: 'mine' }, networkPolicy: { enabled: false } },
      serviceAccount: { create: false, name: 'mine' },
      sandboxes: {
        ...sandboxes,
        namespace: { create: false },
        networkPolicy: { enabled: false },
      },
    },
  ],
  [
    'where and how pods run',
    {
      fullnameOverride: 'agents',
      agentPort: 14_601,
      server: {
        env: { BELAY_POOL: 0, BELAY_CPUS: 1.5, NODE_EXTRA_CA_CERTS: '/certificates/ca.crt' },
        imagePullSecrets: [{ name: 'registry' }],
        persistence: { storageClass: 'fast', size: '1.5Ti', annotations: { a: 'b' } },
        service: { type: 'LoadBalancer', port: 443, annotations: { a: 'b' } },
        topologySpreadConstraints: [spread],
        affinity: { nodeAffinity: {} },
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        tolerations: [{ key: 'agents', operator: 'Exists' }],
        priorityClassName: 'system-cluster-critical',
        podAnnotations: { a: 'b' },
        podLabels: { team: 'agents' },
        podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null },
        resources: { limits: null },
        extraVolumes: [{ name: 'certificates', configMap: { name: 'certificates' } }],
        extraVolumeMounts: [{ name: 'certificates', mountPath: '/certificates' }],
      },
      serviceAccount: { annotations: { 'example.com/role': 'belay' } },
      sandboxes: {
        ...sandboxes,
        agentSandbox: true,
        storageClass: 'fast',
        runtimeClassName: 'gvisor',
        nodeSelector: { pool: 'agents' },
        tolerations: [{ key: 'agents', operator: 'Exists' }],
        priorityClassName: 'agents',
        namespace: { labels: { team: 'agents' } },
      },
    },
  ],
  [
    'a server outside of the cluster',
    { server: { enabled: false }, sandboxes: { serverAddress: '2001:db8::1' } },
  ],
];

const refused: [sentence: RegExp, values: Values][] = [
  [/Set sandboxes\.image and sandboxes\.runtimeImage to images/, {}],
  [
    /cannot share SQLite: set server\.database\.existingSecret/,
    { server: { replicas: 2 }, sandboxes },
  ],
  [
    /have the same files: set server\.persistence\.accessModes to \[ReadWriteMany\]/,
    { server: { ...replicated, persistence: {} }, sandboxes },
  ],
  [
    /would go with the pod: set/,
    {
      server: { ...replicated, replicas: 1, existingSecret: '', persistence: { enabled: false } },
      sandboxes,
    },
  ],
  [/would go with the pod: set/, { server: { persistence: { enabled: false } }, sandboxes }],
  [
    /could read server\.env\.BELAY_SECRET_KEY: put it into the Secret/,
    { server: { env: { BELAY_SECRET_KEY: 'x' } }, sandboxes },
  ],
  [
    /set server\.database\.existingSecret/,
    { server: { env: { DATABASE_URL: 'postgresql:' } }, sandboxes },
  ],
  [/Set server\.storage instead/, { server: { env: { BELAY_STORAGE: 's3://bucket' } }, sandboxes }],
  [/set server\.ingress\.host/, { server: { ingress: { enabled: true } }, sandboxes }],
  [
    /set server\.metrics\.enabled/,
    { server: { metrics: { serviceMonitor: { enabled: true } } }, sandboxes },
  ],
  [/Name the service account/, { serviceAccount: { create: false }, sandboxes }],
  [/need a namespace of their own/, { sandboxes: { ...sandboxes, namespace: { name: 'belay' } } }],
  [/set sandboxes\.serverAddress/, { server: { enabled: false }, sandboxes }],
  [
    /set sandboxes\.namespace\.create to false/,
    {
      server: { enabled: false },
      sandboxes: { namespace: { name: 'belay' }, serverAddress: '192.0.2.1' },
    },
  ],
  [
    /at '\/server': additional properties 'ingres' not allowed/,
    { server: { ingres: {} }, sandboxes },
  ],
  [/at '\/server\/replicas': got string, want integer/, { server: { replicas: '2' }, sandboxes }],
  [
    /at '\/server\/storage': '\/var\/files' does not match pattern/,
    { server: { storage: '/var/files' }, sandboxes },
  ],
];

describe('the chart', () => {
  const namespace = `belay-test-${randomBytes(4).toString('hex')}`;
  const own = { name: `${namespace}-sandboxes` };
  const namespaces = [namespace, own.name];
  const kubectl = (...args: string[]) => clusterCommand('kubectl', args);

  beforeAll(() => Promise.all(namespaces.map((name) => kubectl('create', 'namespace', name))));
  afterAll(() => kubectl('delete', 'namespace', '--wait=false', ...namespaces));

  it.each(admitted)('is admitted by the cluster with %s', async (_, values) => {
    const sandboxesOf = values['sandboxes'] as { namespace?: object };
    const all = {
      ...values,
      sandboxes: { ...sandboxesOf, namespace: { ...sandboxesOf.namespace, ...own } },
    };
    const lint = ['lint', '--strict', chartFolder, '--values', '-'];
    await clusterCommand('helm', lint, { input: JSON.stringify(all) });
    const objects = await renderChart(namespace, all);
    const parsed = parseAllDocuments(objects).map((one) => one.toJS() as object);
    const faults = parsed.map((one) => kubernetesFaults(one));
    expect(faults.length).toBeGreaterThan(3);
    expect(faults.flat()).toEqual([]);
    const strict = ['--server-side', '--dry-run=server', '--validate=strict'];
    const said = await clusterCommand('kubectl', ['apply', ...strict, '--filename', '-'], {
      input: objects,
    });
    expect(said.trim().split('\n')).toHaveLength(objects.match(/^kind: /gm)?.length ?? 0);
  });

  it.each(refused)('is refused with a sentence: %s', async (sentence, values) => {
    const refusal = await renderChart('belay', values).then(
      () => 'admitted',
      (error: Error) => error.message,
    );
    expect(refusal).toMatch(sentence);
  });
});
