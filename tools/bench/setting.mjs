import { spawn } from 'node:child_process';
import { BelayServer, script } from '@belay/testkit';

/** A real server for one measurement; what it made is removed after it. */
export async function withServer(environment, work) {
  const server = new BelayServer(environment);
  try {
    await server.start();
    return await work(server);
  } finally {
    await server.dispose();
  }
}

/** A session that stays alive and leaves its sandbox to the measurement: its model asks and waits. */
export const idleScript = (server) =>
  script(server.data, [{ calls: [{ operation: 'ask', input: { question: 'Go on?' } }] }]);

/** Milliseconds of each of `count` runs, after `warm` runs that do not count. */
export async function sample(count, work, { warm = 2 } = {}) {
  const samples = [];
  for (let index = -warm; index < count; index++) {
    const begin = performance.now();
    const measured = await work();
    if (index >= 0) samples.push(measured ?? performance.now() - begin);
  }
  return samples;
}

/** Runs a command of the host to its end and answers with its milliseconds. */
export function timed(command, args) {
  const begin = performance.now();
  return new Promise((done, failed) => {
    const child = spawn(command, args, { stdio: 'ignore' });
    child.on('error', failed);
    child.on('close', (code) => {
      if (code === 0) done(performance.now() - begin);
      else failed(new Error(`${command} ${args.join(' ')} failed with exit code ${code}`));
    });
  });
}

/** `docker run` of the same box that a sandbox is, which only says hello: the floor of a cold start. */
export const rawStart = (environment) =>
  timed('docker', [
    'run',
    '--rm',
    '--init',
    '--network=none',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    '--read-only',
    '--tmpfs=/tmp:exec',
    '--user=1000:1000',
    '--memory=2g',
    '--memory-swap=2g',
    '--cpus=2',
    '--pids-limit=512',
    `--volume=${environment.BELAY_RUNTIME}:/opt/belay:ro`,
    environment.BELAY_TEST_IMAGE,
    'echo',
    'hello',
  ]);
