import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProgramStart } from '@belay/protocol';
import { startEgressProxy } from '../egress/egress-proxy.js';
import { proxyVariables, trustVariables } from '../egress/environment.js';
import { askServer } from './ask-server.js';
import { sendFiles } from './send-files.js';

type Environment = Readonly<Record<string, string | undefined>>;

const socket = '/run/belay/server.sock';
const certificates = '/opt/belay/ca.crt';
/** How long services may take until they respond. */
const serviceTimeoutMs = 120_000;

/**
 * Runs a program in its container with its proxy and the services that it waits for, then sends the files that it
 * leaves. Resolves to its exit code, as a shell reports it.
 */
export async function startProgram(
  [command = '', ...args]: readonly string[],
  environment: Environment,
): Promise<number> {
  const { BELAY_PROGRAM: text = '{}', ...own } = environment;
  const start = JSON.parse(text) as Partial<ProgramStart> | 'idle';
  if (start === 'idle') return untilInputEnds();
  const { egress, services = {}, output, stays } = start;
  const proxy = egress ? await startEgressProxy({ open: openOutside }) : undefined;
  for (const port of Object.values(services)) {
    if (!(await answers(port))) {
      process.stderr.write(
        `Belay: nothing is listening on port ${port} after ${serviceTimeoutMs / 1_000} s.\n`,
      );
      return 1;
    }
  }
  const env = {
    ...(existsSync(certificates) && trustVariables(certificates)),
    ...own,
    ...(proxy && proxyVariables(`http://127.0.0.1:${proxy.port}`)),
  };
  const code = await run(command, args, env);
  if (output) await sendFiles(output, () => askServer(socket, { kind: 'output' }));
  if (stays) await leaveNothing(output);
  return code;
}

async function untilInputEnds(): Promise<number> {
  process.stdin.resume();
  await once(process.stdin, 'close');
  return 0;
}

/**
 * Ends all other processes of this user, which the program has left, and deletes its files. The server checks the
 * result itself.
 */
async function leaveNothing(output: string | null | undefined): Promise<void> {
  try {
    process.kill(-1, 'SIGKILL');
  } catch {
    // There is none.
  }
  for (const name of output ? await readdir(output) : [])
    await rm(join(output ?? '', name), { recursive: true, force: true });
}

const openOutside = (host: string, port: number) =>
  askServer(socket, { kind: 'connect', host, port });

function run(command: string, args: readonly string[], env: Environment): Promise<number> {
  return new Promise((resolve) => {
    const program = spawn(command, args, { env, stdio: 'inherit' });
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.on(signal, () => program.kill(signal));
    program.once('error', (error: NodeJS.ErrnoException) => {
      process.stderr.write(`${command}: ${error.message}\n`);
      resolve(error.code === 'ENOENT' ? 127 : 126);
    });
    program.once('exit', (code, signal) =>
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)),
    );
  });
}

async function answers(port: number): Promise<boolean> {
  const last = Date.now() + serviceTimeoutMs;
  while (Date.now() < last) {
    const reached = await new Promise<boolean>((resolve) => {
      const attempt = connect({ host: '127.0.0.1', port }, () => resolve(true));
      attempt.once('connect', () => attempt.destroy()).once('error', () => resolve(false));
    });
    if (reached) return true;
    await delay(100);
  }
  return false;
}
