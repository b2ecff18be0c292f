import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { actionOutput, AppError, mcpOutput, type ActionOutput } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { clientFor, findSession, type PrintOptions } from '../connection.js';
import { givenText } from '../given-text.js';
import { outputTo } from '../output.js';

interface CallOptions extends PrintOptions {
  input?: string;
  session?: string;
  save?: string;
}

type File = ActionOutput['files'][number];
type ReadBlob = (blob: string) => Promise<Uint8Array>;

/** `belay actions call`: resolves to the exit code of the action. */
export async function callFromTerminal(
  name: string,
  words: readonly string[],
  options: CallOptions,
): Promise<number> {
  const client = clientFor(options);
  // Only names of MCP servers are followed by a tool’s name.
  const [server, tool] = splitName(name);
  const schema = await schemaOf(client, tool === undefined ? `action.${name}` : `mcp.${name}`);
  const input = { ...(await givenInput(options.input)), ...inputOf(words, schema) };
  const session = options.session && (await findSession(client, options.session)).id;
  const output = await called(client, { server, tool, input, session });
  const read: ReadBlob = (blob) =>
    session ? client.sessions.blob(session, blob) : client.actionCalls.blob(server, blob);
  const { files, exitCode } = actionOutput.partial().parse(output);
  const saved = await Promise.all((files ?? []).map((file) => keep(file, read, options.save)));
  if (options.json) outputTo(process.stdout).json(output);
  else show(output, saved);
  return exitCode ?? 0;
}

const splitName = (name: string): [string, string?] => {
  const at = name.indexOf('.');
  return at < 0 ? [name] : [name.slice(0, at), name.slice(at + 1)];
};

interface Calling {
  server: string;
  tool: string | undefined;
  input: Record<string, unknown>;
  session: string | undefined;
}

async function called(
  client: BelayClient,
  { server, tool, input, session }: Calling,
): Promise<Record<string, unknown>> {
  if (session === undefined)
    return tool === undefined
      ? client.actionCalls.call(server, input)
      : client.actionCalls.tool(server, tool, input);
  const operation = tool === undefined ? `action.${server}` : `mcp.${server}.${tool}`;
  return record(await client.sessions.callGiven(session, operation, input));
}

/** The schema of its input; empty for an unknown operation, which the call then refuses. */
async function schemaOf(client: BelayClient, operation: string): Promise<Properties> {
  const found = (await client.operations.list()).find(({ name }) => name === operation);
  const properties = record(record(found?.input)['properties']);
  return new Map(Object.entries(properties).map(([key, value]) => [key, record(value)['type']]));
}

type Properties = ReadonlyMap<string, unknown>;

/** `key=value` arguments are fields, parsed by their types; all others are positionals, in the list `args`. */
export function inputOf(words: readonly string[], schema: Properties): Record<string, unknown> {
  const fields = new Map<string, unknown>();
  const args: string[] = [];
  for (const word of words) {
    const [, key, value] = /^([\w.-]+)=([^]*)$/.exec(word) ?? [];
    if (key === undefined || value === undefined) args.push(word);
    else fields.set(key, valueOf(value, schema.get(key)));
  }
  return { ...Object.fromEntries(fields), ...(args.length > 0 && { args }) };
}

/** A string unless the field has another type. */
function valueOf(value: string, type: unknown): unknown {
  if (type === undefined || type === 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

async function givenInput(given: string | undefined): Promise<Record<string, unknown>> {
  if (given === undefined) return {};
  try {
    const value: unknown = JSON.parse(await givenText(given));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return record(value);
  } catch {
    // Reported below.
  }
  throw new AppError('invalid_input', '--input takes a JSON object, or - for standard input.');
}

const record = (value: unknown): Record<string, unknown> => ({ ...Object(value) });

/** A line about a file, which is saved if a folder is given. */
async function keep(file: File, read: ReadBlob, folder: string | undefined): Promise<string> {
  const about = `${file.name} (${file.type}, ${file.bytes} bytes)`;
  if (folder === undefined) return `It produced ${about}. Save it with --save DIR.`;
  await mkdir(folder, { recursive: true });
  // The server has removed unsafe characters from the name.
  const path = join(folder, file.name.replaceAll('/', '_'));
  await writeFile(path, await read(file.blob), { flag: 'wx' }).catch((error: unknown) => {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw isThere
      ? new AppError('conflict', `${path} already exists. Name another folder.`)
      : error;
  });
  return `Saved ${path}.`;
}

function show(output: Record<string, unknown>, files: readonly string[]): void {
  const { text: printed = '', structured, errors = '' } = actionOutput.partial().parse(output);
  const { structuredContent } = mcpOutput.partial().parse(output);
  const lines = [
    printed.trimEnd(),
    ...[structured, structuredContent].map((value) => JSON.stringify(value, null, 2) ?? ''),
  ];
  for (const line of lines) if (line) outputTo(process.stdout).line(line);
  for (const line of [errors.trimEnd(), ...files]) if (line) outputTo(process.stderr).line(line);
}
