import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BelayServer } from '@belay/testkit';
import { runProgram } from '../prepare/run-program.mjs';
import { step } from '../prepare/steps.mjs';
import { root } from '../product-node.mjs';
import { generatedClients, pythonTools, type GeneratedClient } from './generated-clients.ts';
import { runSchemathesis } from './run-schemathesis.ts';

interface Server {
  url: string;
  token: string;
}

interface Options {
  /** A running server; a new one if undefined. */
  given: Server | undefined;
  cases: number;
}

/** The limit of one command: some compile hundreds of packages. */
const timeout = 15 * 60_000;
const programs = join(root, 'tools/clients/programs');
const model = 'scripted:example:fix-failing-test';

/** Resolves to the exit code: 1 if a client cannot be generated, built or used. */
export async function testClients(
  names: readonly string[],
  { given, cases }: Options,
): Promise<number> {
  const own = given ? undefined : new BelayServer({ BELAY_LOG_LEVEL: 'warn' });
  await own?.start();
  const server: Server = given ?? { url: own?.url ?? '', token: own?.token ?? '' };
  const folder = mkdtempSync(join(tmpdir(), 'belay-clients-'));
  let code = 0;
  const fail = (error: unknown): void => {
    console.error(error instanceof Error ? error.message : error);
    code = 1;
  };
  try {
    const document = await saveDocument(server, folder);
    const python = join(folder, 'generators');
    await step('generators', () => installPythonTools(python));
    for (const name of names) {
      const client = generatedClients[name];
      const place = { document, folder: join(folder, name), python };
      const work = client
        ? () => useClient(client, place, server)
        : () => runSchemathesis(server, { ...place, cases, timeout });
      await step(name, work).catch(fail);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    await own?.dispose();
  }
  return code;
}

async function saveDocument({ url, token }: Server, folder: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/openapi.json`, { headers });
  if (!response.ok) throw new Error(`${url}/openapi.json answered ${response.status}.`);
  const file = join(folder, 'openapi.json');
  writeFileSync(file, await response.text());
  return file;
}

async function installPythonTools(python: string): Promise<void> {
  assertInstalled({ python3: '--version' });
  await runProgram('python3', ['-m', 'venv', python], { timeout });
  await runProgram(join(python, 'bin/pip'), ['install', '-q', ...pythonTools], { timeout });
}

type Place = Parameters<GeneratedClient['commands']>[0];

async function useClient(client: GeneratedClient, place: Place, server: Server): Promise<void> {
  assertInstalled(client.needs);
  const { folder } = place;
  const [from, to] = client.program;
  mkdirSync(folder);
  for (const [path, content] of Object.entries(client.files ?? {})) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const { url, token } = server;
  const env = { ...process.env, BELAY_URL: url, BELAY_TOKEN: token, BELAY_MODEL: model };
  const copied = join(folder, to);
  // The generators create their folders, and some keep what is in them.
  const commands = client.commands(place);
  for (const [command = '', ...args] of commands) {
    mkdirSync(dirname(copied), { recursive: true });
    cpSync(join(programs, from), copied);
    await runProgram(command, args, { cwd: folder, env, timeout, lines: 40 });
  }
}

/** A program that is missing is a failure: nothing is skipped silently. */
function assertInstalled(needs: Record<string, string>): void {
  for (const [program, argument] of Object.entries(needs)) {
    const { error } = spawnSync(program, [argument], { stdio: 'ignore' });
    if (error)
      throw new Error(
        `${program} is missing on this machine. Install it, or name the other clients.`,
      );
  }
}
