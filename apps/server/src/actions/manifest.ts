import {
  AppError,
  errorFrom,
  jsonFault,
  manifestFile,
  mcpServerName,
  type ActionManifest,
} from '@belay/protocol';
import type { z } from 'zod';
import type { ActionFile } from './action-files.js';
import { checkInput } from './check-input.js';
import { schemaFault } from './schema-fault.js';

const maxBytes = 256 * 1024;
const bounds = { characters: maxBytes, depth: 32, values: 10_000 };

/** The file from which a declaration is read. */
export interface Declared {
  content: Buffer;
  /** The file’s name in messages. */
  where: string;
  folder: string;
  files: readonly ActionFile[];
}

export interface ReadManifest {
  manifest: ActionManifest;
  /** Sentences about ignored fields. */
  warnings: string[];
}

/**
 * Reads a `manifest.json`. Unknown fields, such as those of RunGPT’s plugins, are reported and ignored. Throws
 * `invalid_input` with one sentence that names the field. `where` is the file’s name in messages.
 */
export function readManifest(content: Buffer, where: string): ReadManifest {
  const value = readJsonFile(content, where);
  const manifest = parsedBy(manifestFile, value, where);
  const unknown = unknownFields(value);
  const warnings = [
    ...(unknown.length > 0 ? [`${where} has unknown fields: ${unknown.join(', ')}.`] : []),
    ...exampleFaults(manifest).map((fault) => `${where}: ${fault}`),
  ];
  const fault = manifest.parameters && schemaFault(manifest.parameters, 'parameters');
  if (fault !== undefined) throw unusableFile(where, fault);
  if (manifest.kind === 'mcp') assertServer(manifest, where);
  else if (manifest.command ?? manifest.environment)
    throw unusableFile(where, 'command and environment: they are only for the kind mcp');
  return { manifest, warnings };
}

/** The value of an untrusted JSON file, within limits. Throws `invalid_input`. */
export function readJsonFile(content: Buffer, where: string): unknown {
  if (content.length > maxBytes)
    throw unusableFile(where, `it is larger than ${maxBytes / 1024} KiB`);
  let value: unknown;
  try {
    value = JSON.parse(content.toString('utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
    throw unusableFile(where, `it is not JSON (${reason})`);
  }
  const deep = jsonFault(value, bounds);
  if (deep !== undefined) throw unusableFile(where, `it ${deep}`);
  return value;
}

/** Throws `invalid_input`, which names the wrong field. */
export function parsedBy<T extends z.ZodType>(
  schema: T,
  value: unknown,
  where: string,
): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw unusableFile(where, sentenceOf(parsed.error));
}

export const unusableFile = (where: string, what: string): AppError =>
  new AppError('invalid_input', `${where} cannot be used: ${what}.`);

/** Throws for declarations that an MCP server cannot have, because one program serves all sessions. */
export function assertServer(manifest: ActionManifest, where: string): void {
  const { name_for_model: name, permissions, services, asynchronous } = manifest;
  const fault = mcpServerName.safeParse(name).error?.issues[0]?.message;
  if (fault !== undefined)
    throw unusableFile(where, `name_for_model: the name of an MCP server has ${fault}`);
  if (permissions.workspace !== 'none')
    throw unusableFile(
      where,
      'permissions.workspace: an MCP server serves all sessions and sees no workspace',
    );
  if (Object.keys(services).length > 0)
    throw unusableFile(where, 'services: an MCP server has none');
  if (asynchronous)
    throw unusableFile(where, 'asynchronous: calls of an MCP server’s tools are always waited for');
}

function sentenceOf({ issues: [issue] }: z.ZodError): string {
  if (!issue) return 'it is not a manifest';
  const field = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.slice(0, 5).map((key) => JSON.stringify(key.slice(0, 60)));
    return `${field} has no field ${keys.join(', ')}`;
  }
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  if (isMissing) return `the field ${field} is missing`;
  return field ? `${field}: ${issue.message}` : issue.message;
}

/** Examples that the schema of the input refuses, each as a sentence. */
function exampleFaults({ name_for_model: name, parameters, examples }: ManifestFile): string[] {
  return examples.flatMap(({ input }, index) => {
    try {
      checkInput(name, parameters ?? {}, input);
      return [];
    } catch (error) {
      return [`example ${index + 1} does not match its parameters. ${errorFrom(error).message}`];
    }
  });
}

type ManifestFile = z.output<typeof manifestFile>;

function unknownFields(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value)
    .filter((key) => !Object.hasOwn(manifestFile.shape, key))
    .slice(0, 20)
    .map((key) => JSON.stringify(key.slice(0, 60)));
}
