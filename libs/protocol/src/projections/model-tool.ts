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
  // Two names may become the same by what is cut and replaced: a hash keeps them apart.
  const hash = hashOf(tool?.name ?? operation);
  return `${name.replaceAll(/[^\w-]/g, '_').slice(0, longest - 1 - hash.length)}_${hash}`;
}

export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema (draft 7, which all providers read) of the input. */
  parameters: Record<string, unknown>;
}

/** The form in which a model is offered an operation. */
export function modelTool(operation: Operation): ModelTool {
  const { $schema: _, ...parameters } = z.toJSONSchema(operation.input, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => withoutTruisms(jsonSchema),
  });
  return { name: toolName(operation.name), description: operation.description, parameters };
}

/** What holds of every integer and every key in JSON tells a model nothing, and each prompt would pay for it. */
function withoutTruisms(schema: { maximum?: number; minimum?: number; propertyNames?: unknown }) {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames;
}

/** The form in which a model is offered a tool of an MCP server: as the server describes it. */
export function mcpModelTool(tool: McpTool): ModelTool {
  const name = toolName(mcpOperationName(tool));
  // Servers may leave out what a tool without input has none of; some providers refuse that.
  const parameters = { properties: {}, ...tool.inputSchema };
  return { name, description: tool.description, parameters };
}

/** The form in which a model is offered an installed action: as its manifest describes it. */
export function actionModelTool(action: SessionAction): ModelTool {
  const { description, permissions, kind, asynchronous } = action;
  const about =
    kind === 'skill'
      ? 'A skill: returns its instructions, and puts its files into the sandbox.'
      : `It ${permissionWords(permissions)}.${asynchronous ? ` ${later}` : ''}`;
  return {
    name: toolName(actionOperationName(action)),
    description: `${description}\n\n${about}`,
    parameters: { properties: {}, ...action.inputSchema, type: 'object' },
  };
}

const later =
  'It runs in the background: the call is answered at once, and its result comes in a later message. Go on with other work meanwhile; to wait for it, reply without a call.';

/** FNV-1a of 32 bits, in 7 characters at most. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash.toString(36);
}
