import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isEvent, resultOf, type Event } from '@belay/protocol';
import { blocksOf, Followed, repositoryRoot, run, start } from '@belay/testkit';
import { until } from '@belay/testing';
import { InstalledChart } from './installed-chart.js';

const blocks = blocksOf(readFileSync(join(repositoryRoot, 'docs/kubernetes.md'), 'utf8'));
const values = blocks.find(({ file }) => file === 'values.yaml')?.text ?? '';
const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
const [prepare, install, session, open, forward, upgrade, remove, outside, ...more] = commands as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];

const isRun = (event: Event): boolean =>
  isEvent(event, 'result') && event.args.operation === 'terminal.run';
const isAsked = (event: Event): boolean => isEvent(event, 'approval');

describe('docs/kubernetes.md with the chart', () => {
  let chart: InstalledChart;
  beforeAll(() => (chart = new InstalledChart()));
  afterAll(() => chart.remove());

  const lines = async (args: string) => (await chart.kubectl(args)).split('\n').filter(Boolean);
  const allowed = (what: string, namespace: string): Promise<string> => {
    const account = `system:serviceaccount:${chart.namespace}:belay`;
    return chart.kubectl(`auth can-i ${what} --namespace ${namespace} --as ${account}`).then(
      (said) => said.trim(),
      () => 'no',
    );
  };

  it('leads from an empty cluster to a session', async () => {
    expect(more).toEqual([]);
    chart.save(values);
    await chart.shell(prepare);
    await chart.shell(install);
    expect(await chart.shell(session)).toMatch(/■ finished/);
    expect(await chart.shell(open)).toMatch(/^http:\/\/127\.0\.0\.1:4600\/\?code=\S+$/m);
    // Who may read logs may not log in.
    const log = await chart.kubectl(`--namespace ${chart.namespace} logs deployment/belay`);
    expect(log).toContain('Belay is at');
    expect(log).not.toContain('code=');
  });

  it('gives the server the rights over pods and volumes of one namespace', async () => {
    expect(await allowed('create pods', chart.sandboxes)).toBe('yes');
    expect(await allowed('get secrets', chart.sandboxes)).toBe('no');
    expect(await allowed('create pods --subresource exec', chart.sandboxes)).toBe('no');
    expect(await allowed('create pods', chart.namespace)).toBe('no');
    expect(await allowed('get secrets', chart.namespace)).toBe('no');
  });

  it('keeps a confined session through an upgrade', async () => {
    await chart.connect(forward);
    const services = await lines(
      `--namespace ${chart.namespace} get services --output jsonpath={range.items[*]}{.spec.clusterIP}{"\\n"}{end}`,
    );
    const pods = await lines(
      `--namespace ${chart.namespace} get pods --output jsonpath={range.items[*]}{.status.podIP}{"\\n"}{end}`,
    );
    expect([...services, ...pods]).toHaveLength(3);
    const look = [
      `for host in ${[...services, ...pods].join(' ')}; do for port in 4600 4601 9464; do`,
      '(timeout 1 bash -c "echo > /dev/tcp/$host/$port") 2>/dev/null && echo "open $port"; done; done;',
      'echo kept > kept.txt',
    ].join(' ');
    const model = await chart.script([
      { calls: [run(look)] },
      { calls: [run('cat kept.txt')] },
      { finish: 'Done.' },
    ]);
    const watched = await start(chart, { task: 'Look around', model, approvals: 'ask' });
    const approve = async (event: Event) =>
      chart.client.sessions.answer(watched.id, String(event.args['id']), { verdict: 'approved' });
    await approve(await watched.event(isAsked));
    const seen = await watched.event(isRun);
    // The port for agents: of its Service, and of the server’s pod.
    expect(resultOf(seen, 'terminal.run')?.text.trim()).toBe('open 4601\nopen 4601');
    const asked = await watched.event((event) => isAsked(event) && event.seq > seen.seq);
    const before = [...watched.events];
    watched.close();

    chart.save(values, {
      env: { BELAY_POOL: 0, BELAY_LOG_LEVEL: 'info' },
      metrics: { enabled: true },
    });
    await chart.shell(upgrade);
    expect(await lines(`--namespace ${chart.namespace} get pods --output name`)).toHaveLength(1);
    await chart.connect(forward);
    const again = new Followed(chart, watched.id);
    await again.event((event) => event.seq === asked.seq);
    await approve(asked);
    const kept = await again.event((event) => isRun(event) && event.seq > asked.seq);
    expect(resultOf(kept, 'terminal.run')?.text).toContain('kept');
    await again.finished();
    expect(again.events.slice(0, before.length)).toEqual(before);
    again.close();
    const metrics = await chart.kubectl(
      `get --raw /api/v1/namespaces/${chart.namespace}/services/belay-metrics:9464/proxy/metrics`,
    );
    expect(metrics).toContain('belay_sessions');
  });

  it('leaves nothing but what its notes name', async () => {
    const notes = await chart.shell('helm get notes belay --namespace belay');
    const [uninstall = '', ...removals] = remove.trim().split('\n');
    for (const line of removals) expect(notes).toContain(chart.own(line));
    await chart.shell(uninstall);
    const kinds =
      'pods,services,serviceaccounts,secrets,configmaps,networkpolicies,persistentvolumeclaims,roles,rolebindings,deployments';
    const left = (namespace: string) =>
      lines(`--namespace ${namespace} get ${kinds} --output name --ignore-not-found`);
    const ofCluster = ['serviceaccount/default', 'configmap/kube-root-ca.crt'];
    const own = async (namespace: string) =>
      (await left(namespace)).filter((name) => !ofCluster.includes(name)).sort();
    const kept = ['persistentvolumeclaim/belay-data', 'secret/belay-secrets'];
    await until('the server’s pod is gone', async () => (await own(chart.namespace)).length === 2);
    expect(await own(chart.namespace)).toEqual(kept);
    // What still runs stays confined.
    expect(await own(chart.sandboxes)).toContain('networkpolicy.networking.k8s.io/belay');
    await chart.shell(removals.join('\n'));
    expect(await own(chart.namespace)).toEqual(['secret/belay-secrets']);
    expect(await lines(`get namespace ${chart.sandboxes} --ignore-not-found`)).toEqual([]);
  });

  it('gives a server outside of the cluster its access', async () => {
    const reader = new InstalledChart();
    try {
      const said = await reader.shell(outside, 'SERVER=192.0.2.1\n');
      expect(said).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/m);
    } finally {
      await reader.remove();
    }
  });
});
