import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { belay, describeSystem, prepared } from '@belay/testkit';
import { jsonLines, ownProblem } from '../own-problems.js';

describeSystem('belay eval that is killed', (server) => {
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

  it('killed at any time, also after it resumed, ends in the report of an undisturbed run', async () => {
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
});
