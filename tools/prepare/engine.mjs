import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { aptInstall, canInstall, findCommand } from './debian.mjs';
import { candidateHosts, Docker } from './docker-api.mjs';
import { withLock } from './lock.mjs';
import { lastLines, runProgram } from './run-program.mjs';
import { Instruction } from './steps.mjs';

const logFile = '/var/log/belay-dockerd.log';
const ownHost = 'unix:///var/run/docker.sock';

/** Throws an instruction at once if no Docker Engine answers here and none can be provided. */
export async function assertEngine({ install = true } = {}) {
  if (!(await findEngine())) assertCanProvide(install);
}

/** Finds a Docker Engine that answers, or provides one where possible; returns its client. */
export async function prepareEngine(say, { install = true } = {}) {
  const found = await findEngine();
  if (found) return found;
  assertCanProvide(install);
  const onWait = () => say('another command starts it, waiting for it');
  return withLock('engine', () => provideEngine(say), { onWait });
}

async function provideEngine(say) {
  const startedMeanwhile = await findEngine();
  if (startedMeanwhile) return startedMeanwhile;
  if (!findCommand('dockerd')) {
    say('none here, installing Debian’s docker.io');
    await aptInstall('docker.io', 'iptables');
  }
  say('starting dockerd');
  if (existsSync('/run/systemd/system')) await runProgram('systemctl', ['start', 'docker']);
  else await startDaemon();
  return new Docker(ownHost);
}

/**
 * The client of the first engine that answers, or undefined. Throws an instruction if the user has
 * to fix the access to one.
 */
async function findEngine() {
  const failures = [];
  for (const host of candidateHosts()) {
    const docker = new Docker(host);
    const failure = await docker.ping().then(
      () => undefined,
      (error) => error,
    );
    if (!failure) return docker;
    failures.push(failure);
  }
  if (process.env.DOCKER_HOST)
    throw new Instruction(
      `No Docker Engine answers at DOCKER_HOST (${process.env.DOCKER_HOST}): start it, or unset DOCKER_HOST.`,
    );
  if (failures.some((failure) => failure.code === 'EACCES'))
    throw new Instruction(
      'You may not use the Docker Engine that runs here: add yourself with “sudo usermod -aG docker $USER” and log in again.',
    );
  return undefined;
}

function assertCanProvide(install) {
  if (process.platform !== 'linux' || process.getuid() !== 0) throw new Instruction(missing());
  if (findCommand('dockerd')) return;
  if (!install)
    throw new Instruction(
      'No Docker Engine runs here, and --no-install forbids installing one: start yours and run this again.',
    );
  if (!canInstall()) throw new Instruction(missing());
}

function missing() {
  return process.platform === 'linux'
    ? 'Belay needs a Docker Engine and none answers: start it (sudo systemctl start docker) or install it (https://docs.docker.com/engine/install), then run this again.'
    : 'Belay needs Docker and none answers: start Docker Desktop (https://docs.docker.com/desktop), then run this again.';
}

/**
 * For machines without an init system: starts a dockerd in its own session that outlives this
 * command.
 */
async function startDaemon() {
  const docker = new Docker(ownHost);
  if (isAlive('/var/run/docker.pid', 'dockerd')) return waitFor(docker);
  clearRemains();
  const log = openSync(logFile, 'a', 0o600);
  const from = statSync(logFile).size;
  // live-restore: containers survive a restart of the engine.
  const daemon = spawn(findCommand('dockerd'), ['--live-restore'], {
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  let ended;
  daemon.on('error', (error) => (ended = error.message));
  daemon.on('exit', (code, signal) => (ended ??= `exit ${code ?? signal}`));
  daemon.unref();
  await waitFor(docker, () => {
    if (!ended) return;
    const said = readFileSync(logFile).subarray(from).toString();
    throw new Instruction(
      `dockerd ended at once (${ended}); its log is ${logFile}:\n${lastLines(said)}`,
    );
  });
}

async function waitFor(docker, check = () => {}) {
  const deadline = Date.now() + 60_000;
  for (;;) {
    check();
    const answers = await docker.ping(1000).then(
      () => true,
      () => false,
    );
    if (answers) return;
    if (Date.now() > deadline)
      throw new Instruction(`dockerd runs but does not answer; its log is ${logFile}.`);
    await sleep(100);
  }
}

/** Pid files of a killed dockerd or containerd would prevent a new one from starting. */
function clearRemains() {
  const files = {
    '/var/run/docker.pid': 'dockerd',
    '/var/run/docker/containerd/containerd.pid': 'containerd',
  };
  for (const [file, name] of Object.entries(files))
    if (!isAlive(file, name)) rmSync(file, { force: true });
}

/**
 * Whether the process of a pid file runs and is the expected program: pids are reused, and zombies
 * count as dead.
 */
export function isAlive(pidFile, name, proc = '/proc') {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8').trim());
    const stat = readFileSync(`${proc}/${pid}/stat`, 'utf8');
    const [, command, state] = /^\d+ \((.*)\) (\S)/.exec(stat) ?? [];
    return command === name && state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}
