import { posix } from 'node:path';
import {
  isFields,
  operationNamed,
  ownValue,
  subjectOf,
  toolOperation,
  toolOperationName,
  type Operation,
  type Risk,
} from '@belay/protocol';
import type { AgentEntry } from './agent-entry.js';
import type { ToolMap } from './tool-map.js';

/** A call of a program’s tool in the terms of the platform: what rules match, and what the log shows. */
export interface MappedCall {
  operation: Operation;
  input: Record<string, unknown>;
  risk: Risk;
  subject: string;
  /** It achieves nothing by itself, so nobody decides on it. */
  isIdle: boolean;
}

/** The tools of an agent, as its entry describes them. */
export type ProgramTools = Pick<AgentEntry, 'name' | 'tools' | 'belayTools'>;

/** A tool that the entry does not know may do anything that a command may do. */
export function mappedCall(
  program: ProgramTools,
  tool: string,
  input: Record<string, unknown>,
): MappedCall {
  const { name: agent, tools, belayTools } = program;
  const map = ownValue(tools, tool);
  const own = ownTool({ agent, name: tool }, input);
  // The operation behind it is decided on when Belay’s own server gets the call.
  if (belayTools !== '' && tool.startsWith(belayTools))
    return { ...own, risk: 'read', isIdle: true };
  switch (map?.kind) {
    case 'operation':
      return asOperation(map, input) ?? own;
    case 'path':
      return { ...own, risk: touchesInside(map, ownValue(input, map.path)) ? map.risk : 'execute' };
    case 'other': {
      const [other, given] = [ownValue(input, map.name), ownValue(input, map.input)];
      if (typeof other !== 'string' || other === tool || !isFields(given)) return own;
      return mappedCall(program, other, given);
    }
    case 'idle':
      return { ...own, risk: 'read', isIdle: true };
    case 'network':
    case 'read':
      return { ...own, risk: map.kind };
    default:
      return own;
  }
}

function asOperation(
  map: Extract<ToolMap, { kind: 'operation' }>,
  given: Record<string, unknown>,
): MappedCall | undefined {
  const operation = operationNamed(map.operation);
  const parsed = operation?.input.safeParse(map.input(given));
  if (!operation || !parsed?.success) return undefined;
  const input = parsed.data as Record<string, unknown>;
  const subject = subjectOf(operation.name, input);
  return { operation, input, risk: operation.risk, subject, isIdle: false };
}

function ownTool(
  tool: Parameters<typeof toolOperation>[0],
  input: Record<string, unknown>,
): MappedCall {
  const subject = subjectOf(toolOperationName(tool), input);
  return { operation: toolOperation(tool), input, risk: 'execute', subject, isIdle: false };
}

function touchesInside({ paths }: Extract<ToolMap, { kind: 'path' }>, value: unknown): boolean {
  if (!paths) return isInside(value);
  return paths(value)?.every(isInside) ?? false;
}

/** Whether a path is in the workspace or a temporary folder; an omitted one is the workspace. */
function isInside(path: unknown): boolean {
  if (path === undefined) return true;
  // Some tools expand these as a shell does.
  if (typeof path !== 'string' || /^~|\$/.test(path)) return false;
  const resolved = posix.resolve('/workspace', path);
  return ['/workspace', '/tmp'].some(
    (root) => resolved === root || resolved.startsWith(`${root}/`),
  );
}
