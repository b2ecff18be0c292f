import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startRun } from '@belay/evaluation';
import { prepared } from '@belay/testkit';
import { docker, temporaryFolder } from './platform.ts';
import { median, timed } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = 'evaluation: overhead for each task over docker run of the same program';

const rounds = 4;
const each = 12;

const problem = (number: number) => ({
  task_id: `Own/${number}`,
  prompt: 'def double(n):\n',
  entry_point: 'double',
  canonical_solution: '    return 2 * n\n',
  test: 'def check(candidate):\n    assert candidate(4) == 8\n',
});

/**
 * Trials and bare containers alternate, so that both run under the same load; both are averaged
 * over equally many.
 */
export async function measure(): Promise<Row[]> {
  const { folder, remove } = temporaryFolder();
  try {
    const data = join(folder, 'problems.jsonl');
    const problems = Array.from({ length: each }, (_, number) => JSON.stringify(problem(number)));
    writeFileSync(data, problems.join('\n'));
    const { prompt, canonical_solution: solution, test } = problem(0);
    mkdirSync(join(folder, 'program'));
    writeFileSync(
      join(folder, 'program/program.py'),
      `${prompt}${solution}\n${test}\ncheck(double)`,
    );
    let runs = 0;
    const whole = async () => {
      const out = join(folder, `out-${++runs}`);
      const request = { suite: 'human-eval', data, agent: 'oracle', concurrency: 1, out };
      const sandbox = prepared('BELAY_TEST_IMAGE');
      const { signal } = new AbortController();
      const { passed } = await startRun({ ...request, sandbox }, { signal });
      if (passed !== each) throw new Error(`${passed} of ${each} trials passed.`);
    };
    await whole();
    const image = await helperImage();
    const bare = () => dockerRun(image, join(folder, 'program'));
    await bare();
    const raw: number[] = [];
    const harness: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const bares = await timed(each, bare);
      raw.push(bares.reduce((sum, ms) => sum + ms, 0) / each);
      const [took = NaN] = await timed(1, whole);
      harness.push(took / each);
    }
    const floor = median(raw);
    return [
      {
        what: 'median of the means of a task',
        figure: median(harness),
        unit: 'ms',
        target: floor * 1.2,
        floor,
      },
    ];
  } finally {
    remove();
  }
}

async function helperImage(): Promise<string> {
  const filters = JSON.stringify({ reference: ['belay/evaluation-base'] });
  const images = await docker.listImages({ filters });
  const tag = images.toSorted((a, b) => b.Created - a.Created)[0]?.RepoTags?.[0];
  if (!tag) throw new Error('The evaluation has built no helper image.');
  return tag;
}

/** The same container and program, started with the command-line client. */
async function dockerRun(image: string, program: string): Promise<void> {
  const limits = ['--network=none', '--cap-drop=ALL', '--init', '--memory=1g', '--cpus=1'];
  const box = [...limits, '--security-opt=no-new-privileges', '--pids-limit=512'];
  const mount = ['-v', `${program}:/verify:ro`, '--label', 'belay.bench=raw'];
  const command = [image, 'python3', '-I', '/verify/program.py'];
  const child = spawn('docker', ['run', '--rm', ...box, ...mount, ...command], { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`The bare program ended with code ${code}.`);
}
