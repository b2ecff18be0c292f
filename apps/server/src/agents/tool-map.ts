import { ownValue, shellLine, shellQuoted, type OperationName, type Risk } from '@belay/protocol';
import type { StandIn } from '../models/wire/held-call.js';

type Input = Readonly<Record<string, unknown>>;

/**
 * What a tool of a program is here. An `operation` is logged as such if `input` fits its schema. Otherwise, the tool is
 * logged by its own name: with the risk of executing, unless it only touches the path in its field `path`; such a path
 * outside the workspace counts as executing, too. An `idle` tool achieves nothing by itself, and an `other` one calls
 * another tool.
 */
export type ToolMap =
  | { readonly kind: 'operation'; readonly operation: OperationName; input(given: Input): Input }
  | { readonly kind: 'other'; readonly name: string; readonly input: string }
  | {
      readonly kind: 'path';
      readonly risk: Extract<Risk, 'read' | 'write'>;
      readonly path: string;
      /** The paths that the field names, if it is not one itself; undefined if they cannot be told. */
      readonly paths?: (value: unknown) => readonly string[] | undefined;
    }
  | { readonly kind: 'network' | 'execute' | 'read' | 'idle' };

/** A shell whose command is the text in this field, or a list of arguments. */
export const shell = (field: string): ToolMap => ({
  kind: 'operation',
  operation: 'terminal.run',
  input: (given) => ({ command: shellLine(valueAt(given, field)) }),
});

/** A fetch of the address in this field. */
export const fetching = (field: string): ToolMap => ({
  kind: 'operation',
  operation: 'web.fetch',
  input: (given) => ({ url: given[field] }),
});

export const edits = (path: string): ToolMap => ({ kind: 'path', risk: 'write', path });
/** A patch in OpenAI’s format. */
export const patches = (field: string): ToolMap => ({
  kind: 'path',
  risk: 'write',
  path: field,
  paths: (value) => (typeof value === 'string' ? pathsOfPatch(value) : undefined),
});
export const readsFrom = (path: string): ToolMap => ({ kind: 'path', risk: 'read', path });
export const reads: ToolMap = { kind: 'read' };
/** A tool that calls the tool with the name in its field `name`, with the input in its field `input`. */
export const callingAnother = (name: string, input: string): ToolMap => ({
  kind: 'other',
  name,
  input,
});
export const network: ToolMap = { kind: 'network' };
export const executes: ToolMap = { kind: 'execute' };
export const idleTool: ToolMap = { kind: 'idle' };

/** The same map for several tools. */
export const each = (names: string, map: ToolMap): Record<string, ToolMap> =>
  Object.fromEntries(names.split(' ').map((name) => [name, map]));

/** A stand-in that gives a POSIX shell command to the first of these tools that is offered. */
export function standInBy(
  text: string,
  offered: readonly string[],
  tools: Readonly<Record<string, (command: string) => Input>>,
): StandIn | null {
  const tool = Object.keys(tools).find((name) => offered.includes(name));
  const input = tool === undefined ? undefined : ownValue(tools, tool)?.(saying(text));
  return tool === undefined || !input ? null : { tool, input };
}

/** The number of characters of a refusal that a program gets. */
const maxTextLength = 2_000;

/** A text as programs get it: without control characters, and not too long. */
export const plainText = (text: string): string =>
  text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, maxTextLength);

/** A command that prints the text to standard error and fails. */
const saying = (text: string): string =>
  `printf '%s\\n' ${shellQuoted(plainText(text))} >&2; exit 1`;

/** Undefined if a line might name a path that is not read here. Programs ignore spaces around these lines. */
function pathsOfPatch(patch: string): string[] | undefined {
  const headers = patch.split('\n').filter((line) => /^\s*\*\*\*/.test(line));
  const paths: string[] = [];
  for (const header of headers) {
    const [, path] = /^\s*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/.exec(header) ?? [];
    if (path !== undefined) paths.push(path.trim());
    else if (!/^\s*\*\*\* (?:Begin Patch|End Patch|End of File)\s*$/.test(header)) return undefined;
  }
  return paths.length > 0 ? paths : undefined;
}

function valueAt(given: Input, field: string): unknown {
  let value: unknown = given;
  for (const key of field.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Input)[key];
  }
  return value;
}
