import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { AppError, errorCodes, errorFrom } from '@belay/protocol';
import { z } from 'zod';
import { BackgroundServer } from '../background/background-server.js';
import { clientOf, dataFolder, localServer } from '../connection.js';
import { exitCodes } from '../outcome.js';
import { printResult } from '../output.js';

interface LocalServer {
  data?: string;
  json?: boolean;
}

export interface UpOptions extends LocalServer {
  port?: number;
  /** False if no Docker Engine is to be installed or started. */
  install?: boolean;
  tunnel?: 'ngrok';
}

const endTimeoutMs = 10_000;

/** `belay up`: starts the server in the background. Returns the exit code. */
export async function up(options: UpOptions): Promise<number> {
  const server = new BackgroundServer(options);
  const before = await answering(options);
  if (before) {
    const found = { url: before, started: false, ...server.running() };
    printResult(options, found, `Belay is already running at ${before}. Stop it with: belay down`);
    return 0;
  }
  const starting = server.running();
  if (starting)
    throw new AppError(
      'conflict',
      `Belay was started (process ${starting.pid}) and does not answer yet. See ${server.log}, or stop it with: belay down`,
    );
  server.turnLog();
  const pid = await start(options, server.log);
  if (pid === undefined) return exitCodes.failed;
  server.remember(pid);
  const url = (await answering(options)) ?? '';
  printResult(
    options,
    { url, started: true, ...server.running(), log: server.log },
    `Belay is running in the background at ${url}. Open it with: belay open`,
    ...(options.tunnel ? ['The log begins with the public address for ChatGPT.'] : []),
    `Log: ${server.log} · stop it with: belay down`,
  );
  return 0;
}

/** `belay down`: ends the server that `up` started; agents keep running. Returns the exit code. */
export async function down(options: LocalServer): Promise<number> {
  const server = new BackgroundServer(options);
  const found = server.running();
  if (!found) {
    const url = await answering(options);
    if (url)
      throw new AppError(
        'conflict',
        `The server at ${url} was not started by “belay up”: press Ctrl-C in the terminal where it runs.`,
      );
    printResult(options, { stopped: false }, 'Belay is not running here.');
    return 0;
  }
  await server.end(endTimeoutMs);
  const stopped = { stopped: true, pid: found.pid };
  printResult(
    options,
    stopped,
    'Belay was stopped. Agents keep running; the next start adopts them.',
  );
  return 0;
}

/** `belay status`: whether the server runs. Returns the exit code. */
export async function status(options: LocalServer): Promise<number> {
  const server = new BackgroundServer(options);
  const url = (await answering(options)) ?? null;
  const found = server.running();
  const background = found ? { ...found, log: server.log } : null;
  const state = url ? `is running at ${url}` : found ? 'does not answer' : 'is not running here';
  const more = found
    ? `Process ${found.pid} since ${found.since} · log: ${server.log}`
    : 'Start it with: belay up';
  const sentences = [`Belay ${state}.`, ...(found || !url ? [more] : [])];
  printResult(options, { running: url !== null, url, background }, ...sentences);
  return url ? 0 : errorCodes.unavailable.exit;
}

/** The URL of the data folder’s server, if it responds. */
async function answering({ data }: LocalServer): Promise<string | undefined> {
  try {
    const address = localServer({ data });
    if (address) await clientOf(address).server.me();
    return address?.url;
  } catch (error) {
    if (['unavailable', 'unauthorized'].includes(errorFrom(error).code)) return undefined;
    throw error;
  }
}

const started = z.object({ pid: z.int().positive() });

/** Prepares the machine and starts the server; progress goes to standard error. Undefined when it failed. */
async function start({ data, port, install, tunnel }: UpOptions, log: string) {
  // The bundle is as deep as this file.
  const script = join(__dirname, '../../../../tools/start.mjs');
  if (!existsSync(script))
    throw new AppError(
      'unavailable',
      'This installation of belay has no server. Install it again.',
    );
  const folder = resolve(dataFolder({ data }));
  const args = [script, '--no-open', '--background', log, '--data', folder];
  if (port !== undefined) args.push('--port', String(port));
  if (install === false) args.push('--no-install');
  if (tunnel) args.push('--tunnel', tunnel);
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: process.env,
  });
  const printed = await text(child.stdout);
  const line = printed.trim().split('\n').at(-1) ?? '';
  try {
    return started.parse(JSON.parse(line)).pid;
  } catch {
    return undefined;
  }
}
