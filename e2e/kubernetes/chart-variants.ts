type Values = Record<string, unknown>;

/** Of sandboxes. */
export const chartImages = { image: 'belay/sandbox:1', runtimeImage: 'belay/runtime:1' };
/** What two replicas need. */
export const replicatedServer = {
  replicas: 2,
  existingSecret: 'belay-secrets',
  database: { existingSecret: 'database', key: 'uri' },
  storage: 's3://bucket/belay',
  persistence: { accessModes: ['ReadWriteMany'] },
};
const sandboxes = chartImages;
const spread = {
  maxSkew: 1,
  topologyKey: 'kubernetes.io/hostname',
  whenUnsatisfiable: 'ScheduleAnyway',
  labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'belay' } },
};
const peer = { namespaceSelector: { matchLabels: { team: 'agents' } } };

/** Values that the chart takes, all of its templates among them, by name. */
export const chartVariants: [name: string, values: Values][] = [
  ['the defaults', { sandboxes }],
  ['two replicas with one volume', { server: { ...replicatedServer, storage: '' }, sandboxes }],
  [
    'two replicas with a bucket',
    { server: { ...replicatedServer, persistence: { enabled: false } }, sandboxes },
  ],
  [
    'no volume, and probes of its own',
    {
      server: {
        ...replicatedServer,
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
        closedNetworks: ['203.0.113.0/24', '2001:db8::/32'],
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
        image: { digest: `sha256:${'a'.repeat(64)}` },
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
