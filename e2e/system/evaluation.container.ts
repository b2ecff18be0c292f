import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { built, describeSystem, prepared } from '@belay/testkit';
import Docker from 'dockerode';
import { jsonLines, ownProblem } from '../own-problems.js';

describeSystem('belay eval', (server) => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-eval-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, 'problems.jsonl');
  writeFileSync(data, jsonLines(['a', 'b'].map((name) => ownProblem(name, '2 * n'))));

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
