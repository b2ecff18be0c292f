// npm run test:package: packs Belay, installs the package with npm into a temporary folder, and
// uses it from there, with the current Node. Not a part of `npm test`, because it takes a minute.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAll, runCommand } from './prepare/machine.mjs';
import { preparePackages } from './prepare/packages.mjs';
import { runProgram } from './prepare/run-program.mjs';
import { step } from './prepare/steps.mjs';
import { packProduct } from './pack.mjs';
import { root } from './product-node.mjs';

await runCommand(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-package-'));
  const belay = commandIn(folder, join(folder, 'bin/belay'));
  try {
    await step('packages', preparePackages);
    await step('build', buildAll);
    const archive = await step('package', packProduct);
    const install = ['install', '--global', '--prefix', folder, '--prefer-offline', archive];
    await step('install', () => runProgram('npm', install, { cwd: folder }));
    await step('version, help', () => {
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
      assert.equal(belay('--version').stdout.trim(), version);
      assert.match(belay('--help').stdout, /^ {2}up \[options\] /m);
    });
    await step('up, status, doctor', async () => {
      const port = String(await freePort());
      const { url, started } = JSON.parse(belay('up', '--port', port, '--json').stdout);
      assert.deepEqual({ url, started }, { url: `http://127.0.0.1:${port}`, started: true });
      assert.match(belay('up').stdout, /^Belay is already running at /);
      assert.equal(JSON.parse(belay('status', '--json').stdout).running, true);
      const checks = JSON.parse(belay('doctor', '--json').stdout);
      const failed = checks.filter(({ name, ok }) => !ok && name !== 'models');
      assert.deepEqual(failed, []);
    });
    await step('a session', async () => {
      const ran = belay('run', '--example', 'fix-failing-test', '--approve', 'auto', '--json');
      assert.equal(ran.status, 0, ran.stderr);
      assert.match(ran.stdout, /"action":"finish"/);
      await removeSession(join(folder, 'data'), JSON.parse(belay('list', '--json').stdout)[0].id);
    });
    await step('down', () => {
      assert.match(belay('down').stdout, /^Belay was stopped/);
      assert.equal(belay('status').status, 5);
      assert.match(belay('down').stdout, /^Belay is not running/);
    });
    await step('npx belay: up, a session, down', async () => {
      const options = ['--yes', '--prefer-offline', `--package=${archive}`, 'belay'];
      const npx = (...args) => commandIn(folder, 'npx')(...options, ...args);
      const { started } = JSON.parse(
        npx('up', '--port', String(await freePort()), '--json').stdout,
      );
      assert.equal(started, true);
      const ran = npx('run', '--example', 'fix-failing-test', '--approve', 'auto', '--json');
      assert.equal(ran.status, 0, ran.stderr);
      await removeSession(join(folder, 'data'), JSON.parse(npx('list', '--json').stdout)[0].id);
      assert.match(npx('down').stdout, /^Belay was stopped/);
    });
  } finally {
    belay('down');
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Runs a command with all of Belay’s data, and npm’s cache, in the folder. */
function commandIn(folder, command) {
  const own = (name) => join(folder, name);
  const environment = {
    ...process.env,
    BELAY_DATA: own('data'),
    BELAY_POOL: '0',
    XDG_STATE_HOME: own('state'),
    XDG_CACHE_HOME: own('cache'),
    XDG_RUNTIME_DIR: own('run'),
    npm_config_cache: own('npm'),
  };
  for (const name of ['BELAY_URL', 'BELAY_TOKEN', 'BELAY_PORT']) delete environment[name];
  return (...args) => {
    const options = { cwd: folder, encoding: 'utf8', env: environment };
    return spawnSync(command, args, options);
  };
}

async function removeSession(data, id) {
  const { url, token } = JSON.parse(readFileSync(join(data, 'server.json'), 'utf8'));
  const headers = { authorization: `Bearer ${token}` };
  const removed = await fetch(`${url}/api/sessions/${id}`, { method: 'DELETE', headers });
  assert.equal(removed.status, 204);
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}
