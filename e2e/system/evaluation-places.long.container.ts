import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { belay, describeSystem, docker, prepared, removeSandboxes } from '@belay/testkit';
import { evaluationCommand, ownProblem } from '../own-problems.js';
import { joinedFolderIn, invite } from './joined-machine.js';
import { JoinProcess } from './join-process.js';

interface Trial {
  task: string;
  place: string;
  verdict: { outcome: string };
}

describeSystem('belay eval run over several places', (server) => {
  const home = mkdtempSync(join(tmpdir(), 'belay-places-'));
  const box = new JoinProcess(home);
  const problems = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ownProblem(name, '2 * n'));
  /** One more than run at once. */
  const few = problems.slice(0, 3);
  beforeAll(async () => {
    const { token } = await invite(server, 'box');
    const images = ['--image', prepared('BELAY_TEST_IMAGE'), '--allow-image', 'belay/evaluation-*'];
    box.start(server.url, '--token', token, '--container', ...images);
    await box.says('Connected as box');
  });
  afterAll(async () => {
    await box.end('SIGTERM');
    await removeSandboxes(joinedFolderIn(home));
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });
  const evaluate = (name: string, tried: typeof problems, ...more: string[]) =>
    belay(server.data, evaluationCommand(join(home, name), tried, '--concurrency', '2', ...more));
  const trialsOf = (name: string) =>
    readFileSync(join(home, name, 'results.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Trial);

  it('runs each trial at one of them, and says where', async () => {
    const run = await evaluate('spread', problems, '--agent', 'oracle');
    expect(run).toMatchObject({ code: 0 });
    const trials = trialsOf('spread');
    expect(new Set(trials.map(({ place }) => place))).toEqual(new Set(['box', 'this-machine']));
    expect(trials.every(({ verdict }) => verdict.outcome === 'pass')).toBe(true);
    expect(run.stdout).toMatch(/on box: (\d) of \1 trials? passed/);
    const [listed] = await server.client.evaluations.list();
    const shown = await server.client.evaluations.trials(listed?.id ?? '');
    const placesOf = (all: { task: string; place: string | null }[]) =>
      Object.fromEntries(all.map(({ task, place }) => [task, place]));
    expect(placesOf(shown.trials)).toEqual(placesOf(trials));
    const alone = await evaluate('alone', few, '--agent', 'oracle', '--places', 'this-machine');
    expect(alone).toMatchObject({ code: 0 });
    expect(new Set(trialsOf('alone').map(({ place }) => place))).toEqual(new Set(['this-machine']));
  });

  it('runs the trials of a machine that is killed elsewhere, and counts each once', async () => {
    const running = evaluate('killed', few, '--agent', 'command:sleep 8');
    const filters = { label: ['belay.evaluation'] };
    await until('a trial runs on the machine', async () =>
      (await docker.listContainers({ filters })).some(({ Labels }) =>
        (Labels['belay.evaluation'] ?? '').includes('-belay-'),
      ),
    );
    box.child.kill('SIGKILL');
    expect(await running).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('runs again elsewhere: The machine box') as string,
    });
    const trials = trialsOf('killed');
    expect(trials.map(({ task }) => task).toSorted()).toEqual(few.map(({ task_id }) => task_id));
    expect(trials.every(({ place }) => place === 'this-machine')).toBe(true);
  });
});
