import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastLines } from './prepare/run-program.mjs';
import { Instruction } from './prepare/steps.mjs';
import { runningServer } from './running-server.mjs';

const pollMs = 100;
const readyTimeoutMs = 60_000;

/**
 * Starts the server in its own process session, with its log in a file, and returns once it
 * answers. Prints one line of JSON with its process id. A server that does not become ready is
 * ended.
 */
export async function startInBackground({ file, args, env, folder }, log) {
  const began = performance.now();
  const server = spawn(file, args, {
    // The readiness line contains the token, which must not be logged.
    stdio: ['ignore', 'ignore', openSync(log, 'a', 0o600)],
    detached: true,
    env,
  });
  let failure;
  server.on('error', (error) => (failure = error.message));
  server.on('exit', (code, signal) => (failure = `it ended with ${signal ?? code}`));
  const giveUp = () => void server.kill('SIGTERM');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, giveUp);
  while (!(await runningServer(folder))) {
    if (performance.now() - began > readyTimeoutMs) {
      giveUp();
      failure = `it did not answer within ${readyTimeoutMs / 1000} s`;
    }
    if (failure) throw new Instruction(`The server did not start: ${failure}.\n${endOf(log)}`);
    await sleep(pollMs);
  }
  console.error(`✓ server (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  console.log(JSON.stringify({ pid: server.pid }));
  server.unref();
  return 0;
}

const endOf = (log) => lastLines(readFileSync(log, 'utf8').slice(-4000));
