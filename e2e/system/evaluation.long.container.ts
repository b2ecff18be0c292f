import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { belay, built, describeSystem, prepared } from '@belay/testkit';
import Docker from 'dockerode';
import { jsonLines, ownProblem } from '../own-problems.js';

describeSystem('belay eval', (server) => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-eval-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const data = join(folder, 'problems.jsonl');
  const samples = join(folder, 'samples.jsonl');
  writeFileSync(data, jsonLines(names.map((name) => ownProblem(name, '2 * n'))));
  writeFileSync(
    samples,
    jsonLines(
      names.map((name, index) => ({
        task_id: `Own/${name}`,
        completion: index % 2 ? '    return 2 * n\n' : '    return n\n',
      })),
    ),
  );
  const evaluate = (out: string): string[] => {
    const agent = ['--agent', `predictions:${samples}`];
    const where = ['--out', join(folder, out), '--base-image', prepared('BELAY_TEST_IMAGE')];
    return ['eval', 'run', 'human-eval', '--data', data, ...agent, ...where, '--preflight'];
  };
  const read = (out: string, name: string) => readFileSync(join(folder, out, name), 'utf8');
  const summaryOf = (out: string) =>
    read(out, 'summary.json')
      .replace(/"created": ".*?"/, '')
      .replace(/"seconds": \{[^}]*\}/, '');

  it('that is killed at any time, also after it resumed, ends in the report of an undisturbed run', async () => {
    expect(await belay(server.data, evaluate('whole'))).toMatchObject({ code: 0 });
    expect(summaryOf('whole')).toMatch(/"score": 0\.5,[^]*"checked": 6,/);

    const command = evaluate('killed');
    // The kills should also hit the preflight, so the cached one of the previous run is removed.
    rmSync(join(server.data, 'evaluation'), { recursive: true });
    const startOrResume = () =>
      existsSync(join(folder, 'killed/run.json'))
        ? ['eval', 'resume', join(folder, 'killed')]
        : command;
    for (let kills = 0; kills < 6; kills += 1)
      await belay(server.data, startOrResume(), { killAfter: Math.ceil(Math.random() * 2_500) });
    expect(await belay(server.data, startOrResume())).toMatchObject({ code: 0 });
    expect(summaryOf('killed')).toBe(summaryOf('whole'));
    for (const name of ['native/samples.jsonl', 'native/samples.jsonl_results.jsonl'])
      expect(read('killed', name)).toBe(read('whole', name));
    const verdicts = (out: string) =>
      read(out, 'results.jsonl')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { task: string; verdict: object })
        .toSorted((a, b) => a.task.localeCompare(b.task))
        .map(({ task, verdict }) => [task, verdict]);
    expect(verdicts('killed')).toEqual(verdicts('whole'));

    const runs = await server.client.evaluations.list();
    expect(runs).toHaveLength(2);
    const end = { state: 'finished', done: 6, outcomes: { pass: 3, fail: 3, invalid: 0 } };
    for (const run of runs) expect(run).toMatchObject(end);
  });

  it('kill -9 of the command, or of the npm that started it, ends all of its processes and containers', async () => {
    const engine = new Docker();
    const ended = (pid: number) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
      } catch {
        return true;
      }
    };
    const started = async (out: string): Promise<number> => {
      const lock = join(folder, out, 'run.lock');
      const isHeld = () => existsSync(lock) && readFileSync(lock, 'utf8') !== '';
      await until('the lock', isHeld, { timeoutMs: 90_000 });
      return Number(readFileSync(lock, 'utf8').split(' ')[0]);
    };
    // A duration that identifies the containers of this run of the tests.
    const nap = `sleep 3${process.pid}`;
    const containersOf = async () => {
      const all = await engine.listContainers({ filters: { label: ['belay.evaluation'] } });
      return all.filter(({ Command }) => Command.includes(nap));
    };
    const agent = ['--agent', `command:${nap}`, '--concurrency', '1'];
    const image = ['--base-image', prepared('BELAY_TEST_IMAGE')];
    const args = (out: string) => [
      'eval',
      'run',
      'human-eval',
      '--data',
      data,
      '--out',
      join(folder, out),
      ...agent,
      ...image,
    ];
    const npm = ['npm', 'exec', '--no', '--', 'belay'];
    const direct = [process.execPath, built('apps/cli/bin/belay.mjs')];
    for (const [out, [program = '', ...first]] of [
      ['direct', direct],
      ['by-npm', npm],
    ] as const) {
      const child = spawn(program, [...first, ...args(out)], {
        env: { ...process.env, BELAY_DATA: server.data },
        stdio: 'ignore',
        cwd: built('.'),
      });
      const pid = await started(out);
      await until('a container', async () => (await containersOf()).length > 0, {
        timeoutMs: 90_000,
      });
      child.kill('SIGKILL');
      await until('its end', () => ended(pid));
      await until('no container', async () => (await containersOf()).length === 0);
    }
  });
});
