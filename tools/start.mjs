import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { Instruction } from './prepare/steps.mjs';
import { productEnvironment, productNode, root } from './product-node.mjs';
import { usualDataFolder, runningServer } from './running-server.mjs';
import { startInBackground } from './start-in-background.mjs';
import { parseStart, startUsage } from './start-options.mjs';

await runCommand(async () => {
  const options = parseStart(process.argv.slice(2), process.env);
  if (options.error) {
    console.error(options.error);
    return 2;
  }
  if (options.help) {
    console.log(startUsage);
    return 0;
  }
  const folder = options.data
    ? resolve(process.env.INIT_CWD ?? '.', options.data)
    : usualDataFolder();
  // Checked before anything is built or installed, because these are the most likely reasons to
  // fail.
  await assertAlone(folder);
  await assertFree(options.port);
  assertTunnelToken(options);
  // In development, the runtime is built by the engine of this machine in any case.
  const engine = options.dev || process.env.BELAY_ENGINE !== 'kubernetes';
  if (!engine) assertCluster(process.env);
  const environment = await prepareMachine({ install: options.install, engine });
  const command = { ...commandOf({ ...options, folder, environment }), folder };
  return options.background
    ? startInBackground(command, options.background)
    : serve(command, options);
});

async function assertAlone(folder) {
  const address = await runningServer(folder);
  if (address)
    throw new Instruction(
      `Belay is already running at ${address}\nCtrl-C in its terminal stops it; --data DIR --port N starts another beside it.`,
    );
}

function assertFree(port) {
  const host = process.env.BELAY_HOST || '127.0.0.1';
  return new Promise((done, failed) => {
    const probe = createServer();
    probe.on('error', (error) => failed(new Instruction(portSentence(error, host, port))));
    probe.listen(port, host, () => probe.close(() => done()));
  });
}

/** The server says the same, but only after the build. */
function assertTunnelToken({ tunnel }) {
  if (tunnel && !process.env.NGROK_AUTHTOKEN)
    throw new Instruction(
      'An ngrok tunnel requires a token. Get one at https://dashboard.ngrok.com, and set NGROK_AUTHTOKEN.',
    );
}

/** Images of a cluster are not built here. The server says the same, but only after the build. */
function assertCluster(env) {
  const missing = ['BELAY_AGENT_URL', 'BELAY_IMAGE', 'BELAY_RUNTIME_IMAGE'].filter(
    (name) => !env[name],
  );
  if (missing.length > 0)
    throw new Instruction(
      `BELAY_ENGINE=kubernetes needs ${missing.join(' and ')}: see docs/kubernetes.md.`,
    );
}

function portSentence(error, host, port) {
  if (error.code === 'EADDRINUSE')
    return `Port ${port} is in use by another program: stop it, or choose another port: npm start -- --port N`;
  if (error.code === 'EACCES')
    return `Port ${port} needs permissions that you do not have: choose another port: npm start -- --port N`;
  return `Belay cannot listen on ${host}:${port} (${error.code}).`;
}

/** The user’s own, in the place of those that were built. */
function chosenImages({ BELAY_IMAGE, BELAY_RUNTIME_IMAGE }) {
  return {
    ...(BELAY_IMAGE && { BELAY_IMAGE }),
    ...(BELAY_RUNTIME_IMAGE && { BELAY_RUNTIME_IMAGE }),
  };
}

/**
 * The command to run: the built server, or the program that runs server and dashboard from their
 * sources.
 */
function commandOf({ port, folder, environment, tunnel, dev, inspect, types }) {
  const args = dev
    ? [
        join(root, 'tools/dev/main.ts'),
        ...(inspect ? [inspect] : []),
        ...(types ? ['--types'] : []),
      ]
    : [...nodeArguments(), join(root, 'apps/server/dist/bundle/main.cjs')];
  return {
    file: productNode(),
    args,
    env: productEnvironment({
      BELAY_LOG_LEVEL: process.env.BELAY_LOG_LEVEL || 'warn',
      ...environment,
      ...chosenImages(process.env),
      BELAY_PORT: String(port),
      BELAY_DATA: folder,
      ...(tunnel && { BELAY_TUNNEL: tunnel }),
      NODE_ENV: 'production',
    }),
  };
}

/**
 * Runs the server until it ends. Ctrl-C stops only the server; agents keep running, and the next
 * start adopts them.
 */
function serve({ file, args, env, folder }, { open }) {
  const began = performance.now();
  const server = spawn(file, args, {
    // At a terminal, the server asks its questions there.
    stdio: [process.stdin.isTTY ? 'inherit' : 'ignore', 'pipe', 'inherit'],
    // In its own process group, so that only we forward Ctrl-C to it, once.
    detached: true,
    env,
  });
  createInterface(server.stdout).on('line', (line) => {
    const ready = readyLine(line);
    if (!ready) return console.log(line);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const url = isLogOfCluster() ? ready.url : `${ready.url}/?code=${ready.code}`;
    console.error(`✓ server (${seconds} s)`);
    console.log(`\n  Belay is at ${url}\n  Ctrl-C stops the server; agents keep running.\n`);
    if (open && process.stdout.isTTY) openInBrowser(folder);
  });
  return untilEnd(server);
}

/** More people read the logs of a cluster than may run programs in its pods; a code would log them in as the admin. */
function isLogOfCluster() {
  return process.env.BELAY_ENGINE === 'kubernetes' && !process.stdout.isTTY;
}

/** See docs/server.md, “Memory”. */
function nodeArguments() {
  return JSON.parse(readFileSync(join(root, 'apps/server/node-arguments.json'), 'utf8'));
}

function untilEnd(server) {
  let asked = 0;
  const stop = () => {
    asked += 1;
    server.kill(asked > 1 ? 'SIGKILL' : 'SIGTERM');
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  return new Promise((done, failed) => {
    server.on('error', failed);
    server.on('exit', (code, signal) => {
      // A server that exits with a code has reported the reason itself.
      if (asked === 0 && signal) console.error(`The server was ended by ${signal}.`);
      done(asked > 0 ? 0 : code || 1);
    });
  });
}

function readyLine(line) {
  try {
    const value = JSON.parse(line);
    return value.ready ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The command line knows how to open a browser; without a display it opens nothing. */
function openInBrowser(folder) {
  const command = join(root, 'apps/cli/bin/belay.mjs');
  spawn(productNode(), [command, 'open', '--data', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
