import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import {
  addressForPods,
  blocksOf,
  prepared,
  repositoryRoot,
  start,
  type Followed,
} from '@belay/testkit';
import { PostgresCluster, until } from '@belay/testing';
import { counting, endCounting, expectCountedOnce } from '../system/counting.js';
import { InstalledChart } from './installed-chart.js';

const blocks = blocksOf(readFileSync(join(repositoryRoot, 'docs/kubernetes.md'), 'utf8'));
const values = blocks.find(({ file }) => file === 'values.yaml')?.text ?? '';
const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
const [prepare = '', install = '', , , forward = '', upgrade = ''] = commands;

const claim = 'shared';

describe('two replicas of the chart', () => {
  let chart: InstalledChart;
  let postgres: PostgresCluster;
  let database: string;
  beforeAll(async () => {
    const config = new KubeConfig();
    config.loadFromFile(prepared('BELAY_TEST_CLUSTER'));
    postgres = await PostgresCluster.start(await addressForPods(config));
    database = await postgres.database();
    chart = new InstalledChart();
    save();
    await chart.shell(prepare);
    const here = `--namespace ${chart.namespace}`;
    const address = `--from-literal=DATABASE_URL=${database}`;
    await chart.kubectl(`${here} create secret generic database ${address}`);
    await chart.kubectl(`${here} apply --filename -`, JSON.stringify(sharedClaim));
    await chart.shell(install);
    await chart.connect(forward);
  });
  afterAll(async () => {
    await chart.remove();
    await postgres.stop();
  });

  /** One claim is enough for both, because its volume is on one node. */
  const save = (more: Record<string, unknown> = {}) =>
    chart.save(values, {
      replicas: 2,
      database: { existingSecret: 'database' },
      persistence: { existingClaim: claim, accessModes: ['ReadWriteMany'] },
      ...more,
    });
  const query = async (text: string) => (await postgres.query(database, text))[0];
  /** The name of the pod whose server leads. */
  async function leadingPod(): Promise<string> {
    const row = await query('select address from server join lease on lease.server = server.id');
    const [ip] = String(row?.['address']).split(':');
    const path = '{range.items[*]}{.metadata.name}={.status.podIP}{"\\n"}{end}';
    const pods = await chart.kubectl(
      `--namespace ${chart.namespace} get pods --output jsonpath=${path}`,
    );
    const found = pods.split('\n').find((line) => line.endsWith(`=${ip}`));
    if (found === undefined) throw new Error(`No pod has the address ${ip}.`);
    return found.split('=')[0] ?? '';
  }
  const ownersOf = async (sessions: readonly Followed[]): Promise<number> => {
    const ids = sessions.map(({ id }) => `'${id}'`).join(', ');
    const row = await query(
      `select count(distinct owner) as owners from session where id in (${ids})`,
    );
    return Number(row?.['owners']);
  };
  /** Sessions of both servers. */
  async function someAtEach(): Promise<Followed[]> {
    const model = await chart.script([{ calls: [counting] }, { finish: 'done' }]);
    const sessions: Followed[] = [];
    const begin = async (): Promise<boolean> => {
      sessions.push(await start(chart, { task: 'Count', model }));
      return (await ownersOf(sessions)) === 2;
    };
    await until('each server has one', begin, { intervalMs: 2_000 });
    for (const session of sessions) await session.printed('line 3');
    return sessions;
  }
  /** Follows the sessions through a pod that is there now. */
  async function goOn(sessions: readonly Followed[]): Promise<void> {
    await until('a server serves', async () => {
      await chart.connect(forward);
      return chart.client.sessions.list().catch(() => false);
    });
    for (const session of sessions) session.follow(chart);
  }
  async function expectOnce(sessions: readonly Followed[]): Promise<void> {
    for (const session of sessions) {
      await endCounting(chart, session);
      await expectCountedOnce(session);
    }
  }

  it('share the sessions, which go on after a kill of the pod that leads', async () => {
    const sessions = await someAtEach();
    const pod = await leadingPod();
    await chart.kubectl(`--namespace ${chart.namespace} delete pod ${pod} --force --wait=false`);
    await until('another one leads', async () => (await leadingPod().catch(() => pod)) !== pod);
    await goOn(sessions);
    await expectOnce(sessions);
  });

  it('are replaced one after the other while their sessions go on', async () => {
    await chart.kubectl(
      `--namespace ${chart.namespace} rollout status deployment/belay --timeout 300s`,
    );
    await chart.connect(forward);
    const sessions = await someAtEach();
    save({ podAnnotations: { 'belay.dev/change': 'another' } });
    await chart.shell(upgrade);
    await goOn(sessions);
    // Until its agent has connected again, a session is shown as waiting.
    const isRunning = async ({ id }: Followed): Promise<boolean> =>
      (await chart.client.sessions.get(id)).state === 'running';
    for (const session of sessions) await until('it is running', () => isRunning(session));
    await expectOnce(sessions);
  });
});

const sharedClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: claim },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};
