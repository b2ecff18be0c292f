import { access, constants, mkdir } from 'node:fs/promises';
import { request } from 'node:http';
import { createConnection } from 'node:net';
import type { BelayClient } from '@belay/client';
import { createClient } from '@belay/client';
import type { Check } from '@belay/protocol';
import { dataFolder, findServer, type Where } from '../connection.js';
import { outputTo } from '../output.js';

/** `belay doctor`: what must be there, each with its remedy. Answers whether all of it is. */
export async function doctor(options: Where & { json?: boolean; port?: number }): Promise<boolean> {
  const server = await runningServer(options);
  const checks = [
    await dataCheck(dataFolder(options)),
    await serverCheck(server, options.port ?? 4600),
    ...(server ? await server.client.checks() : [await engineCheck()]),
    ...(server ? [await modelCheck(server.client)] : []),
  ];
  const output = outputTo(process.stdout);
  if (options.json) output.line(JSON.stringify(checks));
  else for (const check of checks) printCheck(check, output);
  return checks.every((check) => check.ok);
}

function printCheck(
  { name, ok, detail, remedy }: Check,
  output: ReturnType<typeof outputTo>,
): void {
  const mark = ok ? output.style('green', '✓') : output.style('red', '✗');
  output.line(`${mark} ${name.padEnd(14)} ${detail}`);
  if (!ok && remedy) output.line(`  ${' '.repeat(14)} → ${remedy}`);
}

async function runningServer(where: Where) {
  try {
    const address = findServer(where);
    const client = createClient(address);
    await client.models();
    return { url: address.url, client };
  } catch {
    return undefined;
  }
}

async function dataCheck(folder: string): Promise<Check> {
  const name = 'data folder';
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
    return { name, ok: true, detail: folder, remedy: null };
  } catch (error) {
    const detail = `${folder} cannot be written: ${(error as Error).message}`;
    return { name, ok: false, detail, remedy: 'Choose another folder with --data or BELAY_DATA.' };
  }
}

async function serverCheck(server: { url: string } | undefined, port: number): Promise<Check> {
  const name = 'server';
  if (server) return { name, ok: true, detail: `runs at ${server.url}`, remedy: null };
  const taken = await new Promise<boolean>((done) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => done(true));
    socket.on('error', () => done(false)).on('close', () => socket.destroy());
    socket.on('connect', () => socket.destroy());
  });
  const detail = taken ? `does not run, and port ${port} is in use` : 'does not run';
  const remedy = taken ? 'Start it on another port: npm start -- --port N' : 'Start it: npm start';
  return { name, ok: false, detail, remedy };
}

/** Asks the engine itself, for when no server runs that could. */
async function engineCheck(): Promise<Check> {
  const socketPath = (process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock').replace(
    'unix://',
    '',
  );
  const answer = await new Promise<string>((done) => {
    request({ socketPath, path: '/_ping', timeout: 2000 }, (response) => {
      response.resume();
      done(response.statusCode === 200 ? '' : `it answers ${response.statusCode}`);
    })
      .on('timeout', function (this: { destroy(error: Error): void }) {
        this.destroy(new Error('it does not answer'));
      })
      .on('error', (error) => done(error.message))
      .end();
  });
  const ok = answer === '';
  const detail = ok ? `answers at ${socketPath}` : `no engine at ${socketPath}: ${answer}`;
  return { name: 'Docker', ok, detail, remedy: ok ? null : 'npm start installs or starts one.' };
}

async function modelCheck(client: BelayClient): Promise<Check> {
  const models = await client.models();
  const real = models.filter((model) => !/^(scripted|cassette):/.test(model.name));
  const ready = real.filter((model) => model.ready);
  const detail = ready.length ? ready.map((model) => model.name).join(', ') : 'no key is set';
  const remedy = real.find((model) => model.remedy)?.remedy ?? 'Set OPENAI_API_KEY for the server.';
  return { name: 'models', ok: ready.length > 0, detail, remedy: ready.length ? null : remedy };
}
