import type { KubernetesObject, V1Deployment, V1NetworkPolicy } from '@kubernetes/client-node';
import { renderChart } from '@belay/testkit';
import { parseAllDocuments } from 'yaml';
import { chartImages as sandboxes, chartVariants, replicatedServer } from './chart-variants.js';

type Values = Record<string, unknown>;

const monitored = {
  enabled: true,
  port: 9000,
  serviceMonitor: { enabled: true, interval: '10s', labels: { release: 'prometheus' } },
};

const refused: [sentence: RegExp, values: Values][] = [
  [/Set sandboxes\.image and sandboxes\.runtimeImage to images/, {}],
  [
    /cannot share SQLite: set server\.database\.existingSecret/,
    { server: { replicas: 2 }, sandboxes },
  ],
  [
    /have the same files: set server\.persistence\.accessModes to \[ReadWriteMany\]/,
    { server: { ...replicatedServer, persistence: {} }, sandboxes },
  ],
  [
    /would go with the pod: set/,
    {
      server: {
        ...replicatedServer,
        replicas: 1,
        existingSecret: '',
        persistence: { enabled: false },
      },
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
  [
    /at '\/server\/affinity': additional properties 'podAfinity' not allowed/,
    { server: { affinity: { podAfinity: {} } }, sandboxes },
  ],
  [/at '\/server\/replicas': got string, want integer/, { server: { replicas: '2' }, sandboxes }],
  [
    /at '\/server\/storage': '\/var\/files' does not match pattern/,
    { server: { storage: '/var/files' }, sandboxes },
  ],
];

async function render(values: Values): Promise<KubernetesObject[]> {
  const parsed = parseAllDocuments(await renderChart('belay', values));
  return parsed.map((one) => one.toJS() as KubernetesObject);
}

const find = <T extends KubernetesObject>(objects: T[], kind: string, namespace?: string) =>
  objects.find(
    (one) => one.kind === kind && (namespace ?? 'belay') === (one.metadata?.namespace ?? 'belay'),
  );

async function deployment(values: Values) {
  const found = find(await render(values), 'Deployment') as V1Deployment | undefined;
  const { spec } = found?.spec?.template ?? {};
  return { spec, server: spec?.containers[0] };
}

// These need Helm, but no cluster.
describe('what the chart makes', () => {
  it.each([
    ...chartVariants,
    ['a ServiceMonitor', { server: { metrics: monitored }, sandboxes }] as const,
  ])('gives rights in the namespace of sandboxes alone, with %s', async (_, values) => {
    const objects = await render(values);
    expect(objects.filter(({ kind }) => kind?.startsWith('Cluster'))).toEqual([]);
    const rights = objects.filter(({ apiVersion }) => apiVersion?.startsWith('rbac.'));
    expect(rights.map(({ kind, metadata }) => [kind, metadata?.namespace])).toEqual([
      ['Role', 'belay-sandboxes'],
      ['RoleBinding', 'belay-sandboxes'],
    ]);
  });

  it('has a ServiceMonitor of the port with the metrics', async () => {
    const objects = await render({ server: { metrics: monitored }, sandboxes });
    const service = objects.find(({ metadata }) => metadata?.name === 'belay-metrics');
    expect(find(objects, 'ServiceMonitor')).toEqual({
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      metadata: {
        name: 'belay',
        namespace: 'belay',
        labels: expect.objectContaining({ release: 'prometheus' }),
      },
      spec: {
        selector: { matchLabels: expect.any(Object) },
        endpoints: [{ port: 'metrics', interval: '10s' }],
      },
    });
    expect(service).toMatchObject({ spec: { ports: [{ name: 'metrics', port: 9000 }] } });
    const { spec } = find(objects, 'ServiceMonitor') as unknown as {
      spec: { selector: { matchLabels: object } };
    };
    expect(service?.metadata?.labels).toMatchObject(spec.selector.matchLabels);
    const others = objects.filter((one) => one.kind === 'Service' && one !== service);
    expect(others).toHaveLength(2);
    for (const { metadata } of others)
      expect(metadata?.labels).not.toMatchObject(spec.selector.matchLabels);
    const none = await render({ server: { metrics: { enabled: true } }, sandboxes });
    expect(find(none, 'ServiceMonitor')).toBeUndefined();
  });

  it('names images by their tag, or by their digest', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const repository = 'registry.example.com/belay/server';
    const imageOf = async (image: object) =>
      (await deployment({ server: { image }, sandboxes })).server?.image;
    expect(await imageOf({ repository, tag: '1' })).toBe(`${repository}:1`);
    expect(await imageOf({ repository, digest })).toBe(`${repository}@${digest}`);
    const runtimeImage = `registry.example.com/belay/runtime@${digest}`;
    const { server } = await deployment({ sandboxes: { ...sandboxes, runtimeImage } });
    expect(server?.env).toContainEqual({ name: 'BELAY_RUNTIME_IMAGE', value: runtimeImage });
  });

  it('gives an account of yours the rights, and makes none', async () => {
    const subjectOf = async (values: Values) => {
      const objects = await render({ ...values, sandboxes });
      const { spec } = await deployment({ ...values, sandboxes });
      return {
        made: find(objects, 'ServiceAccount')?.metadata?.name,
        runsAs: spec?.serviceAccountName,
        bound: find(objects, 'RoleBinding', 'belay-sandboxes'),
      };
    };
    const bound = (name: string) =>
      expect.objectContaining({ subjects: [{ kind: 'ServiceAccount', name, namespace: 'belay' }] });
    expect(await subjectOf({ serviceAccount: { create: false, name: 'mine' } })).toEqual({
      made: undefined,
      runsAs: 'mine',
      bound: bound('mine'),
    });
    expect(await subjectOf({})).toEqual({ made: 'belay', runsAs: 'belay', bound: bound('belay') });
  });

  it('limits who reaches the server and what it reaches to what is given', async () => {
    const policyOf = async (networkPolicy: object) => {
      const server = { metrics: { enabled: true }, networkPolicy };
      return (find(await render({ server, sandboxes }), 'NetworkPolicy') as V1NetworkPolicy).spec;
    };
    const peers = (team: string) => [{ namespaceSelector: { matchLabels: { team } } }];
    const from = peers('users');
    const metricsFrom = peers('monitoring');
    const egress = [{ to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 5432 }] }];
    const agents = {
      ports: [{ protocol: 'TCP', port: 'agents' }],
      from: [
        {
          namespaceSelector: {
            matchLabels: { 'kubernetes.io/metadata.name': 'belay-sandboxes' },
          },
        },
      ],
    };
    expect(await policyOf({ from, metricsFrom, egress })).toMatchObject({
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        { ports: [{ port: 'http' }], from },
        agents,
        { ports: [{ port: 'metrics' }], from: metricsFrom },
      ],
      egress,
    });
    const usual = await policyOf({});
    expect(usual).toMatchObject({
      policyTypes: ['Ingress'],
      ingress: [
        { ports: [{ port: 'http' }] },
        agents,
        { ports: [{ port: 'metrics' }], from: [{ namespaceSelector: {} }] },
      ],
    });
    expect(usual?.ingress?.[0]).not.toHaveProperty('from');
    expect(usual).not.toHaveProperty('egress');
  });

  it('tells the server where and how pods run, if that is given', async () => {
    const scheduling = {
      nodeSelector: { pool: 'agents' },
      tolerations: [{ key: 'agents', operator: 'Exists' }],
      priorityClassName: 'agents',
    };
    const envOf = async (more: object) => {
      const { server } = await deployment({ sandboxes: { ...sandboxes, ...more } });
      const set = (name: string) => server?.env?.find((one) => one.name === name)?.value;
      return [set('BELAY_RUNTIME_CLASS'), set('BELAY_POD_SCHEDULING')] as const;
    };
    const [runtimeClass, given] = await envOf({ runtimeClassName: 'gvisor', ...scheduling });
    expect(runtimeClass).toBe('gvisor');
    expect(JSON.parse(given ?? '')).toEqual(scheduling);
    expect(await envOf({})).toEqual([undefined, undefined]);
  });

  it.each(refused)(
    'is refused with a sentence where values contradict: %s',
    async (sentence, values) => {
      const refusal = await renderChart('belay', values).then(
        () => 'admitted',
        (error: Error) => error.message,
      );
      expect(refusal).toMatch(sentence);
    },
  );
});
