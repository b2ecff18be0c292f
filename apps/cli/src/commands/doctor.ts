import { access, constants, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import type { BelayClient } from '@belay/client';
import { errorFrom, isPlayedModel, type Check } from '@belay/protocol';
import { clientOf, dataFolder, findServer, type PrintOptions, type Where } from '../connection.js';
import { outputTo } from '../output.js';

/** `belay doctor`: checks the requirements and prints remedies. Returns whether all are met. */
export async function doctor(options: PrintOptions & { port?: number }): Promise<boolean> {
  const { client, check } = await serverCheck(options);
  const checks = [
    await dataCheck(dataFolder(options)),
    check,
    ...(client ? await client.server.checks() : await placeChecks()),
    ...(client ? [await modelCheck(client)] : []),
  ];
  const output = outputTo(process.stdout);
  if (options.json) output.json(checks);
  else for (const each of checks) printCheck(each, output);
  return checks.every(({ ok }) => ok);
}

function printCheck(
  { name, ok, detail, remedy }: Check,
  output: ReturnType<typeof outputTo>,
): void {
  const mark = ok ? output.style('green', '✓') : output.style('red', '✗');
  output.line(`${mark} ${name.padEnd(14)} ${detail}`);
  if (!ok && remedy) output.line(`  ${' '.repeat(14)} → ${remedy}`);
}

async function dataCheck(folder: string): Promise<Check> {
  const name = 'data folder';
  try {
    await access(await nearest(folder), constants.W_OK);
    return { name, ok: true, detail: folder, remedy: null };
  } catch (error) {
    const detail = `${folder} is not writable: ${(error as Error).message}`;
    return { name, ok: false, detail, remedy: 'Choose another folder with --data or BELAY_DATA.' };
  }
}

/** The folder, or its nearest existing parent: the server creates the rest. */
async function nearest(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  if (found && !found.isDirectory()) throw new Error('it is not a folder');
  return found || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

async function serverCheck(
  where: Where & { port?: number },
): Promise<{ client?: BelayClient; check: Check }> {
  const name = 'server';
  try {
    const address = findServer(where);
    const client = clientOf(address);
    await client.models.list();
    const detail = `is running at ${address.url}`;
    return { client, check: { name, ok: true, detail, remedy: null } };
  } catch (error) {
    const { code, message } = errorFrom(error);
    if (code === 'unauthorized') return { check: refusedToken };
    if (code !== 'unavailable')
      return { check: { name, ok: false, detail: message, remedy: null } };
  }
  const port = where.port ?? 4600;
  const taken = await isTaken(port);
  const detail = taken ? `is not running, and port ${port} is in use` : 'is not running';
  const remedy = taken ? 'Start it on another port: belay up --port N' : 'Start it: belay up';
  return { check: { name, ok: false, detail, remedy } };
}

const refusedToken: Check = {
  name: 'server',
  ok: false,
  detail: 'rejects the token',
  remedy: 'Set BELAY_TOKEN to the one that the server printed when it started, or unset it.',
};

const isTaken = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => done(true));
    socket.on('error', () => done(false)).on('close', () => socket.destroy());
    socket.on('connect', () => socket.destroy());
  });

/** What a server here would run sandboxes with, if none is running that could be asked. */
async function placeChecks(): Promise<Check[]> {
  const { BELAY_ENGINE, BELAY_NAMESPACE, BELAY_AGENT_SANDBOX, KUBECONFIG } = process.env;
  if (BELAY_ENGINE !== 'kubernetes') return [await engineCheck()];
  const { checkCluster, defaultNamespace } = await import('@belay/containers');
  return checkCluster({
    kubeconfig: KUBECONFIG || undefined,
    namespace: BELAY_NAMESPACE || defaultNamespace,
    agentSandbox: BELAY_AGENT_SANDBOX === 'true',
  });
}

async function engineCheck(): Promise<Check> {
  const host = process.env.DOCKER_HOST || 'unix:///var/run/docker.sock';
  if (!host.startsWith('unix://')) {
    const detail = `DOCKER_HOST is ${host}, but Belay needs an engine on this machine`;
    const remedy = 'Unset DOCKER_HOST, or set it to unix:///var/run/docker.sock.';
    return { name: 'Docker', ok: false, detail, remedy };
  }
  const socketPath = host.slice('unix://'.length);
  const problem = await new Promise<string>((done) => {
    request({ socketPath, path: '/_ping', timeout: 2000 }, (response) => {
      response.resume();
      done(response.statusCode === 200 ? '' : `it responds with status ${response.statusCode}`);
    })
      .on('timeout', function (this: { destroy(error: Error): void }) {
        this.destroy(new Error('it does not respond'));
      })
      .on('error', (error) => done(error.message))
      .end();
  });
  const ok = problem === '';
  const detail = ok ? `responds at ${socketPath}` : `no engine at ${socketPath}: ${problem}`;
  return { name: 'Docker', ok, detail, remedy: ok ? null : 'belay up installs or starts one.' };
}

async function modelCheck(client: BelayClient): Promise<Check> {
  const models = await client.models.list();
  const real = models.filter((model) => !isPlayedModel(model.name));
  const ready = real.filter((model) => model.ready);
  const detail = ready.length ? ready.map((model) => model.name).join(', ') : 'no key is set';
  const remedy = real.find((model) => model.remedy)?.remedy ?? 'Set OPENAI_API_KEY for the server.';
  return { name: 'models', ok: ready.length > 0, detail, remedy: ready.length ? null : remedy };
}
