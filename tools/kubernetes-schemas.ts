import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './product-node.mjs';

// npm run kubernetes-schemas: takes the schemas of the objects that Belay and its chart make from the API server of the
// cluster that BELAY_TEST_CLUSTER names, and writes them anew. agent-sandbox must be installed there.

/** The kinds that Belay makes, by API version. */
const made = {
  v1: ['Namespace', 'PersistentVolumeClaim', 'Pod', 'Secret', 'Service', 'ServiceAccount'],
  'agents.x-k8s.io/v1beta1': ['Sandbox'],
  'apps/v1': ['Deployment'],
  'authorization.k8s.io/v1': ['SelfSubjectAccessReview'],
  'networking.k8s.io/v1': ['Ingress', 'NetworkPolicy'],
  'policy/v1': ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1': ['Role', 'RoleBinding'],
};

const file = join(root, 'libs/containers/src/kubernetes/testing/fixtures/kubernetes-schemas.json');
const references = '#/components/schemas/';

type Schema = Record<string, unknown>;

interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

/** What an API server says about one version of one group. */
interface OpenApi {
  paths: Record<string, { post?: { 'x-kubernetes-group-version-kind'?: GroupVersionKind } }>;
  components: { schemas: Record<string, Schema> };
}

interface Kind {
  apiVersion: string;
  kind: string;
  /** Where objects of the kind are made. */
  path: string;
  schema: string;
}

const kinds: Kind[] = [];
const definitions = new Map<string, unknown>();
for (const [apiVersion, names] of Object.entries(made)) {
  const folder = apiVersion.includes('/') ? 'apis' : 'api';
  const api = read(`/openapi/v3/${folder}/${apiVersion}`) as unknown as OpenApi;
  for (const kind of names) {
    const schema = schemaOf(api, apiVersion, kind);
    kinds.push({ apiVersion, kind, path: pathOf(api, apiVersion, kind), schema });
    define(api, schema);
  }
}
write();

function read(path: string): Schema {
  const env = { ...process.env, KUBECONFIG: process.env['BELAY_TEST_CLUSTER'] };
  const options = { env, encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  return JSON.parse(execFileSync('kubectl', ['get', '--raw', path], options)) as Schema;
}

function isOf({ group, version, kind: named }: GroupVersionKind, apiVersion: string, kind: string) {
  return named === kind && [group, version].filter(Boolean).join('/') === apiVersion;
}

function schemaOf({ components }: OpenApi, apiVersion: string, kind: string): string {
  const found = Object.entries(components.schemas).find(([, schema]) =>
    ((schema['x-kubernetes-group-version-kind'] ?? []) as GroupVersionKind[]).some((one) =>
      isOf(one, apiVersion, kind),
    ),
  );
  if (!found) throw new Error(`The cluster has no ${kind} of ${apiVersion}.`);
  return found[0];
}

function pathOf({ paths }: OpenApi, apiVersion: string, kind: string): string {
  const found = Object.entries(paths).find(([, { post }]) => {
    const one = post?.['x-kubernetes-group-version-kind'];
    return one !== undefined && isOf(one, apiVersion, kind);
  });
  if (!found) throw new Error(`Nothing makes a ${kind} of ${apiVersion}.`);
  return found[0];
}

/** A definition with all that it refers to. */
function define(api: OpenApi, name: string): void {
  if (definitions.has(name)) return;
  const { properties, ...schema } = api.components.schemas[name] ?? {};
  // The cluster alone writes the status of an object, which is as large as the rest.
  const { status: _, ...own } = (properties ?? {}) as Schema;
  const isKind = 'x-kubernetes-group-version-kind' in schema;
  const whole = properties ? { ...schema, properties: isKind ? own : properties } : schema;
  definitions.set(
    name,
    reduced(whole, (other) => define(api, other)),
  );
}

/** What decides whether an object is valid, without defaults, descriptions and formats. */
function reduced(schema: Schema, refer: (name: string) => void): Schema {
  const kept: Schema = {};
  const of = (value: unknown) => reduced(value as Schema, refer);
  for (const [key, value] of Object.entries(schema))
    if (key === 'properties')
      kept[key] = Object.fromEntries(
        Object.entries(value as Schema).map(([name, one]) => [name, of(one)]),
      );
    else if (key === '$ref') kept[key] = referred(value as string, refer);
    else if (['items', 'additionalProperties', 'not'].includes(key))
      kept[key] = typeof value === 'object' ? of(value) : value;
    else if (['allOf', 'anyOf', 'oneOf'].includes(key)) kept[key] = (value as unknown[]).map(of);
    else if (key === 'x-kubernetes-preserve-unknown-fields') kept['additionalProperties'] = true;
    else if (key === 'x-kubernetes-int-or-string') kept[key] = value;
    else if (!/^(?:default|description|format|x-kubernetes-.*)$/.test(key)) kept[key] = value;
  const [only, ...more] = (kept['allOf'] ?? []) as Schema[];
  return only && more.length === 0 && Object.keys(kept).length === 1 ? only : kept;
}

function referred(reference: string, refer: (name: string) => void): string {
  const name = reference.slice(references.length);
  refer(name);
  return `#/definitions/${name}`;
}

/** A definition in each line, so that a difference shows what has changed. */
function write(): void {
  const { gitVersion } = read('/version');
  const head = {
    source: `The OpenAPI schemas of Kubernetes ${String(gitVersion)} (https://github.com/kubernetes/kubernetes, Copyright The Kubernetes Authors) and of kubernetes-sigs/agent-sandbox (https://github.com/kubernetes-sigs/agent-sandbox, Copyright The Kubernetes Authors), reduced by tools/kubernetes-schemas.ts`,
    license: 'Apache-2.0',
  };
  const sorted = [...definitions].sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = [
    ...Object.entries(head).map(
      ([key, text]) => `${JSON.stringify(key)}: ${JSON.stringify(text)},`,
    ),
    '"kinds": [',
    kinds.map((one) => JSON.stringify(one)).join(',\n'),
    '],',
    '"definitions": {',
    sorted.map(([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`).join(',\n'),
    '}',
  ];
  writeFileSync(file, `{\n${lines.join('\n')}\n}\n`);
}
