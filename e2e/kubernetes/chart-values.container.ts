import { chartFolder, renderChart, clusterCommand } from '@belay/testkit';
import { randomBytes } from 'node:crypto';
import { parseAllDocuments } from 'yaml';
import { kubernetesFaults } from '../../libs/containers/src/kubernetes/testing/kubernetes-faults.js';
import { chartVariants } from './chart-variants.js';

describe('the chart', () => {
  const namespace = `belay-test-${randomBytes(4).toString('hex')}`;
  const own = { name: `${namespace}-sandboxes` };
  const namespaces = [namespace, own.name];
  const kubectl = (...args: string[]) => clusterCommand('kubectl', args);

  beforeAll(() => Promise.all(namespaces.map((name) => kubectl('create', 'namespace', name))));
  afterAll(() => kubectl('delete', 'namespace', '--wait=false', ...namespaces));

  it.each(chartVariants)('is admitted by the cluster with %s', async (_, values) => {
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
});
