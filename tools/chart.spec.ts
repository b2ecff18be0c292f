import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { root } from './product-node.mjs';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const chart = 'docker/kubernetes';
const values = parse(read(`${chart}/values.yaml`)) as object;

const valuesSchema = JSON.parse(read(`${chart}/values.schema.json`)) as {
  definitions: Record<string, { properties: object }>;
};
const schema = z.fromJSONSchema(valuesSchema);
const kubernetes = JSON.parse(
  read('libs/containers/src/kubernetes/testing/fixtures/kubernetes-schemas.json'),
) as { definitions: Record<string, { properties: object }> };

// What needs Helm and a cluster is in e2e/kubernetes.
describe('the chart', () => {
  it('has the version of the product', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(parse(read(`${chart}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
  });

  it('has defaults that its schema takes, and nothing beside them', () => {
    expect(schema.safeParse(values)).toMatchObject({ success: true });
    for (const wrong of [{ server: { ingres: {} } }, { server: { replicas: '2' } }])
      expect(schema.safeParse(wrong)).toMatchObject({ success: false });
  });

  it('takes the fields that Kubernetes has, by the names of its schemas', () => {
    const fieldsOf = ({ properties }: { properties: object } = { properties: {} }) =>
      Object.keys(properties).sort();
    const kinds = Object.entries(valuesSchema.definitions);
    expect(kinds.length).toBeGreaterThan(4);
    for (const [kind, own] of kinds) {
      const known = kubernetes.definitions[`io.k8s.api.core.v1.${kind}`];
      expect({ kind, fields: fieldsOf(own) }).toEqual({ kind, fields: fieldsOf(known) });
    }
  });

  it.each([
    ['resources', { server: { resources: { limit: {} } } }],
    ['a security context', { server: { podSecurityContext: { runAsuser: 1 } } }],
    ['that of a container', { server: { securityContext: { fsGroup: 1 } } }],
    ['a probe', { server: { readinessProbe: { httpget: {} } } }],
    ['an affinity', { server: { affinity: { podAfinity: {} } } }],
    ['a toleration', { sandboxes: { tolerations: [{ keys: 'agents' }] } }],
    ['a digest', { server: { image: { digest: '1' } } }],
  ])('refuses an unknown field of %s', (_, wrong) => {
    expect(schema.safeParse(wrong)).toMatchObject({ success: false });
  });

  it('uses values that it has', () => {
    const folder = `${chart}/templates`;
    const used = readdirSync(join(root, folder)).flatMap((file) =>
      [...read(join(folder, file)).matchAll(/\.Values\.([\w.]*\w)/g)].map(([, path = '']) => path),
    );
    const has = (path: string) =>
      path
        .split('.')
        .reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], values) !==
      undefined;
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((path) => !has(path))).toEqual([]);
  });
});
