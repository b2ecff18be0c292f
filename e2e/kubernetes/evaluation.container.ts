import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  belay,
  built,
  clusterServer,
  describeSystem,
  prepared,
  run,
  script,
  TestCluster,
} from '@belay/testkit';
import { evaluationCommand, ownProblem } from '../own-problems.js';
import { JoinProcess } from '../system/join-process.js';

interface Trial {
  task: string;
  place: string;
  sessionPlace?: string;
  image: { name: string };
  verdict: { outcome: string };
}

describeSystem('belay eval run on a cluster', (server) => {
  const home = mkdtempSync(join(tmpdir(), 'belay-cluster-'));
  const problems = [ownProblem('a', '2 * n'), ownProblem('b', 'n + n')];
  let cluster: TestCluster;
  let box: JoinProcess;
  beforeAll(async () => {
    cluster = await TestCluster.open();
    box = new JoinProcess(home, { KUBECONFIG: cluster.kubeconfig });
    const added = await belay(server.data, [
      'machines',
      'add',
      'box',
      '--label',
      'in=pods',
      '--json',
    ]);
    const { token } = JSON.parse(added.stdout) as { token: string };
    const named = {
      image: prepared('BELAY_TEST_IMAGE'),
      'runtime-image': prepared('BELAY_RUNTIME_IMAGE'),
      'agent-url': `wss://${cluster.address}:${cluster.nextPort()}`,
      'allow-image': 'belay/evaluation-*',
      namespace: cluster.namespace,
      memory: '1024',
      cpus: '1',
      'max-sandboxes': '3',
    };
    const pairs = Object.entries(named).flatMap(([name, value]) => [`--${name}`, value]);
    box.start(server.url, '--token', token, '--kubernetes', '--pod-files', ...pairs);
    await box.says('Connected as box');
    const made = await evaluate('built', '--agent', 'oracle', '--places', 'this-machine');
    expect(made).toMatchObject({ code: 0 });
    // Nodes have no registry here.
    const load = `import(${JSON.stringify(built('tools/load-images.mjs'))}).then((tools) => tools.loadImages(process.argv.slice(1)))`;
    const names = new Set(trialsOf('built').map(({ image }) => image.name));
    execFileSync(process.execPath, ['-e', load, ...names], { stdio: 'inherit' });
  });
  afterAll(async () => {
    await box.end('SIGTERM');
    await cluster.remove();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });
  const evaluate = (name: string, ...more: string[]) =>
    belay(server.data, evaluationCommand(join(home, name), problems, ...more));
  const trialsOf = (name: string) =>
    readFileSync(join(home, name, 'results.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Trial);
  const outcomes = (name: string) =>
    trialsOf(name).map(({ place, verdict }) => [place, verdict.outcome]);

  it('runs trials in pods of a server whose own engine is the cluster', async () => {
    const own = clusterServer(cluster, cluster.nextPort(), { BELAY_MEMORY_MB: '1024' });
    try {
      await own.start();
      const folder = join(home, 'own');
      const options = ['--agent', 'oracle', '--places', 'this-server'];
      const found = await belay(own.data, evaluationCommand(folder, problems, ...options));
      expect(found.stdout).toContain('on this-server: 2 of 2 trials passed');
      expect(outcomes('own')).toEqual([
        ['this-server', 'pass'],
        ['this-server', 'pass'],
      ]);
      const { items } = await cluster.core.listNamespacedPod({ namespace: cluster.namespace });
      expect(items).toEqual([]);
    } finally {
      await own.dispose();
    }
  });

  it('verifies answers in pods: right ones pass, and others do not', async () => {
    const right = await evaluate('right', '--agent', 'oracle', '--places', 'box');
    expect(right.stderr).not.toContain('runs no trials');
    expect(outcomes('right')).toEqual([
      ['box', 'pass'],
      ['box', 'pass'],
    ]);
    expect(right.stdout).toContain('on box: 2 of 2 trials passed');
    await evaluate(
      'wrong',
      '--agent',
      'command:echo "def double(n): return n" > solution.py',
      '--places',
      'box',
    );
    expect(outcomes('wrong')).toEqual([
      ['box', 'fail'],
      ['box', 'fail'],
    ]);
  });

  it('runs the sessions of agents there, too', async () => {
    const model = script(home, [
      { calls: [run('printf "def double(n):\\n    return 2 * n\\n" > solution.py')] },
      { finish: 'Done.' },
    ]);
    const where = ['--places', 'box', '--session-label', 'in=pods', '--concurrency', '1'];
    const ran = await evaluate('model', '--agent', 'model', '--model', model, ...where);
    expect(ran).toMatchObject({ code: 0 });
    expect(trialsOf('model')).toMatchObject(
      problems.map(({ task_id }) => ({
        task: task_id,
        place: 'box',
        sessionPlace: 'box',
        verdict: { outcome: 'pass' },
      })),
    );
  });
});
