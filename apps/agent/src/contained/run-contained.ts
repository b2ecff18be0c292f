import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Duplex, Readable } from 'node:stream';
import type { ProgramStart } from '@belay/protocol';
import { outputPieceHead } from '@belay/rpc';
import { startEgressProxy, type EgressProxyOptions } from '../egress/egress-proxy.js';
import { proxyVariables, trustVariables } from '../egress/environment.js';
import { asUser } from '../user-separation.js';

const certificates = '/opt/belay/ca.crt';
/** How long services may take until they respond. */
const serviceTimeoutMs = 120_000;
/** The exit code of a killed program, as a shell reports it. */
const killedCode = 128 + constants.signals.SIGKILL;

export interface RunOptions {
  /** Its input, and its output in the form of `outputPieces`; ended when the program has ended, destroyed to kill it. */
  stream: Duplex;
  imageEnvironment: Readonly<Record<string, string>>;
  openOutside: EgressProxyOptions['open'];
  /** Kills what a program has started; returns how many processes are still there. */
  killRest(): Promise<number>;
}

/**
 * Runs a program with its proxy, once the services that it waits for respond. Resolves when it has ended, and what it
 * has started was killed. Never rejects.
 */
export async function runContained(
  start: ProgramStart,
  options: RunOptions,
): Promise<{ code: number; left: number }> {
  const { stream, openOutside, killRest } = options;
  const proxy = start.egress ? await startEgressProxy({ open: openOutside }) : undefined;
  try {
    const fault = (await folderFault(start.folder)) ?? (await serviceFault(start.services, stream));
    if (fault !== null) {
      stream.write(errorLine(fault));
      return { code: 1, left: 0 };
    }
    // It was killed before it began.
    if (stream.destroyed) return { code: killedCode, left: 0 };
    const code = await ended(start, {
      ...options,
      proxy: proxy ? proxyVariables(`http://127.0.0.1:${proxy.port}`) : {},
    });
    return { code, left: await killRest() };
  } finally {
    stream.end();
    stream.resume();
    await proxy?.close();
  }
}

/** Resolves to its exit code, as a shell reports it. */
async function ended(
  { command: [name, ...given], folder, env }: ProgramStart,
  { stream, imageEnvironment, killRest, proxy }: RunOptions & { proxy: Record<string, string> },
): Promise<number> {
  const { file, args } = asUser(name, given);
  const program = spawn(file, args, {
    cwd: folder,
    env: {
      ...(existsSync(certificates) && trustVariables(certificates)),
      ...imageEnvironment,
      ...env,
      ...proxy,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const kill = (): void => void program.kill('SIGKILL');
  stream.once('close', kill);
  const exited = exitOf(program, stream);
  // It may leave before it has read everything.
  program.stdin.on('error', () => {});
  stream.pipe(program.stdin);
  const printed = Promise.all([
    forward(program.stdout, { to: stream, isError: false }),
    forward(program.stderr, { to: stream, isError: true }),
  ]);
  const code = await exited;
  stream.off('close', kill);
  stream.unpipe(program.stdin);
  // Others, which it has started, would keep its output open.
  await killRest();
  await printed;
  return code;
}

function exitOf(program: ChildProcess, stream: Duplex): Promise<number> {
  return new Promise((resolve) => {
    program.once('error', ({ message, code }: NodeJS.ErrnoException) => {
      stream.write(errorLine(message));
      resolve(code === 'ENOENT' ? 127 : 126);
    });
    program.once('exit', (code, signal) =>
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)),
    );
  });
}

/** Passes output on as fast as the server takes it. */
async function forward(
  printed: Readable,
  { to, isError }: { to: Duplex; isError: boolean },
): Promise<void> {
  try {
    for await (const data of printed as AsyncIterable<Buffer>) {
      if (to.destroyed) continue;
      to.write(outputPieceHead({ isError, data }));
      if (!to.write(data)) await drained(to);
    }
  } catch {
    // The program could not be started, so there is none.
  }
}

async function drained(stream: Duplex): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.once('drain', resolve).once('close', resolve);
  await promise;
  stream.off('drain', resolve).off('close', resolve);
}

const errorLine = (text: string): Buffer => {
  const data = Buffer.from(`Belay: ${text}\n`);
  return Buffer.concat([outputPieceHead({ isError: true, data }), data]);
};

/** Without this, a program is reported as missing when only its folder cannot be entered. */
async function folderFault(folder: string): Promise<string | null> {
  try {
    // Looking at an entry of it needs the right to enter it; `access` would ask for the real user’s rights.
    await stat(`${folder}/.`);
    return null;
  } catch (error) {
    const { code = 'failed' } = error as NodeJS.ErrnoException;
    return `its folder ${folder} cannot be entered (${code}): every folder above it must be open to all users.`;
  }
}

async function serviceFault(
  services: ProgramStart['services'],
  stream: Duplex,
): Promise<string | null> {
  const last = Date.now() + serviceTimeoutMs;
  for (const port of Object.values(services)) {
    while (!(await answers(port))) {
      if (Date.now() > last || stream.destroyed)
        return `nothing is listening on port ${port} after ${serviceTimeoutMs / 1_000} s.`;
      await delay(100);
    }
  }
  return null;
}

async function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const attempt = connect({ host: '127.0.0.1', port }, () => resolve(true));
  attempt.once('connect', () => attempt.destroy()).once('error', () => resolve(false));
  return promise;
}
