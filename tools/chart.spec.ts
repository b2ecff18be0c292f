import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { root } from './product-node.mjs';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const chart = 'docker/kubernetes';
const values = parse(read(`${chart}/values.yaml`)) as object;

// What needs Helm and a cluster is in e2e/kubernetes.
describe('the chart', () => {
  it('has the version of the product', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(parse(read(`${chart}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
  });

  it('has defaults that its schema takes, and nothing beside them', () => {
    const schema = z.fromJSONSchema(JSON.parse(read(`${chart}/values.schema.json`)));
    expect(schema.safeParse(values)).toMatchObject({ success: true });
    for (const wrong of [{ server: { ingres: {} } }, { server: { replicas: '2' } }])
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
