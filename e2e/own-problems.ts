import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BelayServer, prepared } from '@belay/testkit';

/** A task of the suite human-eval: to double a number. */
export const ownProblem = (name: string, solution: string) => ({
  task_id: `Own/${name}`,
  prompt: 'def double(n):\n    """Twice n."""\n',
  entry_point: 'double',
  canonical_solution: `    return ${solution}\n`,
  test: 'def check(candidate):\n    assert candidate(4) == 8\n',
});

type Problem = ReturnType<typeof ownProblem>;

/** More than are tried before a run is stopped or killed. */
export const manyProblems: Problem[] = Array.from({ length: 100 }, (_, index) =>
  ownProblem(`${index}`, '2 * n'),
);

/** The lines of a data file. */
export const jsonLines = (problems: object[]): string =>
  problems.map((each) => `${JSON.stringify(each)}\n`).join('');

/** Puts problems where the server finds data for its own runs. */
export function offerData(server: BelayServer, name: string, problems: object[]): void {
  const data = join(server.data, 'benchmarks');
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, name), jsonLines(problems));
}

/**
 * The arguments of `belay` for a run of these problems, whose results are in the folder of this
 * path.
 */
export function evaluationCommand(out: string, problems: Problem[], ...more: string[]): string[] {
  const data = `${out}.jsonl`;
  writeFileSync(data, jsonLines(problems));
  const image = ['--base-image', prepared('BELAY_TEST_IMAGE')];
  return ['eval', 'run', 'human-eval', '--data', data, '--out', out, ...image, ...more];
}
