import { DockerTasks } from '@belay/containers';
import { Refused } from '../refused.js';
import { runOnFiles } from './run-on-files.js';
import { createTask } from '../engine/task-files.js';

const engine = new DockerTasks();

/** The error of a container whose script ends with an exit code; undefined if there is none. */
async function errorOf(exitCode: number): Promise<unknown> {
  const container = await createTask(engine, {
    run: 'run-on-files-spec',
    image: process.env.BELAY_TEST_BUSYBOX ?? '',
    command: ['sh', '-c', `echo said; exit ${exitCode}`],
    user: 'root',
    workdir: '/',
    env: {},
    files: [],
    cpus: 1,
    memoryMb: 64,
    network: 'none',
  });
  try {
    await runOnFiles(container, AbortSignal.timeout(100_000), {
      refused: 'The files are wrong',
      failed: 'The files could not be read',
    });
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await container.remove();
  }
}

it.each([1, 123, 128])('exit code %i is the failure of the agent’s files', async (exitCode) => {
  expect(await errorOf(exitCode)).toEqual(new Refused('The files are wrong: said'));
});

// The script's own failure, xargs with a killed program, a missing program, and a killed git.
it.each([98, 125, 127, 137])('exit code %i is not the agent’s failure', async (exitCode) => {
  const error = await errorOf(exitCode);
  expect(error).not.toBeInstanceOf(Refused);
  expect(error).toEqual(new Error(`The files could not be read (exit code ${exitCode}): said`));
});

it('exit code 0 throws nothing', async () => {
  expect(await errorOf(0)).toBeUndefined();
});
