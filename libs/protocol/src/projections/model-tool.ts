import { z } from 'zod';
import { actionOperationName, permissionWords } from '../action-operation.js';
import type { SessionAction } from '../actions.js';
import type { McpTool } from '../mcp.js';
import { mcpOperationName, mcpToolNamed } from '../mcp-operation.js';
import type { Operation } from '../operation.js';

const longest = 64;

/** Providers allow only letters, digits, `_` and `-` in a tool’s name. */
export function toolName(operation: string): string {
  const tool = mcpToolNamed(operation);
  const name = tool ? `mcp_${tool.server}_${tool.name}` : operation.replaceAll('.', '_');
  if (name.length <= longest && (!tool || /^[\w-]+$/.test(name))) return name;
  // Cutting and replacing could make two names equal: a hash keeps them apart.
  const hash = hashOf(tool?.name ?? operation);
  return `${name.replaceAll(/[^\w-]/g, '_').slice(0, longest - 1 - hash.length)}_${hash}`;
}

export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema (draft 7, which all providers read) of the input. */
  parameters: Record<string, unknown>;
}

/** An operation as a tool for a model. */
export function modelTool(operation: Operation): ModelTool {
  const { $schema: _, ...parameters } = z.toJSONSchema(operation.input, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => withoutTruisms(jsonSchema),
  });
  return { name: toolName(operation.name), description: operation.description, parameters };
}

/** Limits of every integer and every key in JSON tell a model nothing, but would cost tokens in each prompt. */
function withoutTruisms(schema: { maximum?: number; minimum?: number; propertyNames?: unknown }) {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames;
}

/** A tool of an MCP server as a tool for a model, with the server’s description. */
export function mcpModelTool(tool: McpTool): ModelTool {
  const name = toolName(mcpOperationName(tool));
  // Servers may omit `properties` for a tool without input, which some providers refuse.
  const parameters = { properties: {}, ...tool.inputSchema };
  return { name, description: tool.description, parameters };
}

/** An installed action as a tool for a model, with the description of its manifest. */
export function actionModelTool(action: SessionAction): ModelTool {
  const { description, permissions, kind, asynchronous } = action;
  const about =
    kind === 'skill'
      ? 'A skill: returns its instructions and puts its files into the sandbox. A trusted skill of the same name in the workspace takes precedence.'
      : `It ${permissionWords(permissions)}.${asynchronous ? ` ${later}` : ''}`;
  return {
    name: toolName(actionOperationName(action)),
    description: `${description}\n\n${about}`,
    parameters: { properties: {}, ...action.inputSchema, type: 'object' },
  };
}

const later =
  'It runs in the background: the call returns immediately, and its result comes in a later message. Continue with other work meanwhile; to wait for the result, reply without a call.';

/** FNV-1a of 32 bits, in 7 characters at most. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash.toString(36);
}
