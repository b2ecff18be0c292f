import {
  AppError,
  fieldsOfTool,
  imagesOf,
  modelTool,
  operations,
  searchOperations,
  sessionCommands,
  toolName,
  type InstalledOperation,
  type Operation,
  type Risk,
  type SessionCommand,
} from '@belay/protocol';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { parsedInput } from '../../parsed-input.js';

/** The target of a tool: a command on sessions, or an operation in a session’s sandbox. */
export interface McpTarget {
  name: string;
  /** Blobs of the pictures in an output. */
  images(output: unknown): readonly string[];
}

const fieldsOf = z.object({
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
});

const session = { type: 'string', description: 'The id of the session.' };

export interface NamedTool {
  tool: Tool;
  target: McpTarget;
}

/** All installed tools of a kind have the same one, and are listed at each search. */
const outputSchemas = new WeakMap<z.ZodType, NonNullable<Tool['outputSchema']>>();

/** Every tool by its name, with its target. */
export const mcpTools: ReadonlyMap<string, NamedTool> = new Map(
  [
    ...Object.entries<SessionCommand>(sessionCommands)
      .filter(([, { audience }]) => audience.includes('model'))
      .map(ofCommand),
    ...Object.values<Operation>(operations)
      .filter(({ audience }) => audience.includes('user'))
      .map(ofOperation),
  ].map((one) => [one.tool.name, one]),
);

function ofCommand([name, command]: [string, SessionCommand]) {
  const { title, description, scope, input, output } = command;
  const risk = scope === 'view' ? 'read' : 'execute';
  const { $schema: _, ...schema } = z.toJSONSchema(input, { target: 'draft-7', io: 'input' });
  const tool = describe(`session_${name}`, { title, description, risk, schema, output });
  return { tool, target: { name, images: () => [] } };
}

/** The tool of an installed operation, which can be called in a session or without one. */
export function toolOfInstalled({ operation, tool }: InstalledOperation): NamedTool {
  const { title, risk, name, output } = operation;
  const schema = {
    ...tool.parameters,
    properties: { session: optionalSession, ...fieldsOfTool(tool) },
  };
  const described = describe(tool.name, {
    title,
    description: tool.description,
    risk,
    schema,
    output,
  });
  const images = (given: unknown) => imagesOf(operation, given);
  return { tool: described, target: { name, images } };
}

/** The tools that replace many installed actions, because clients list every tool to their models. */
export const searchTools: readonly Tool[] = [
  describe('actions_search', {
    title: 'Search the actions',
    description:
      'Searches the installed actions, skills and tools, which are too many to list, by their purpose. Call a result with actions_call.',
    risk: 'read',
    schema: {
      properties: {
        query: { type: 'string', description: 'What the action should do, in a few words.' },
      },
      required: ['query'],
    },
  }),
  describe('actions_call', {
    title: 'Call an action',
    description: 'Calls an installed action, skill or tool that actions_search found.',
    risk: 'network',
    schema: {
      properties: {
        name: { type: 'string', description: 'Its name, as actions_search returned it.' },
        input: { type: 'object', description: 'Its input, as its parameters describe it.' },
      },
      required: ['name'],
    },
  }),
];

const actionCall = z.object({
  name: z.string(),
  input: z.record(z.string(), z.unknown()).default({}),
});

export interface ToolCall {
  name: string;
  input: Record<string, unknown>;
}

/** The call inside an `actions_call`; other calls unchanged. Throws `invalid_input`. */
export function calledTool(call: ToolCall): ToolCall {
  const { name, input } = call;
  if (name !== 'actions_call') return call;
  return parsedInput(name, actionCall, input);
}

/** The result of `actions_search`; undefined for any other tool. Throws `invalid_input`. */
export function searched(
  { name, input: { query } }: ToolCall,
  installed: readonly InstalledOperation[],
) {
  if (name !== 'actions_search') return undefined;
  if (typeof query !== 'string' || query.trim() === '' || query.length > 500)
    throw new AppError('invalid_input', `${name}: query must be a text of 500 characters at most.`);
  const all = installed.map((one) => ({ ...one.operation, one }));
  return searchOperations(query, all, ({ one }) => {
    const { tool } = toolOfInstalled(one);
    return {
      name: tool.name,
      description: tool.description ?? '',
      parameters: tool.inputSchema,
    };
  });
}

const optionalSession = {
  type: 'string',
  description:
    'The id of a session that has this action or MCP server, to work in its workspace. Without one, it runs on its own.',
};

function ofOperation(operation: Operation) {
  const { name, title, description, risk, output } = operation;
  const { parameters } = modelTool(operation);
  const { properties = {}, required = [] } = fieldsOf.parse(parameters);
  const schema = {
    ...parameters,
    properties: { session, ...properties },
    required: ['session', ...required],
  };
  const tool = describe(toolName(name), { title, description, risk, schema, output });
  return { tool, target: { name, images: (given: unknown) => imagesOf(operation, given) } };
}

interface Described {
  title: string;
  description: string;
  risk: Risk;
  schema: object;
  /** Omitted for tools that are only of this API. */
  output?: z.ZodType;
}

function describe(name: string, { title, description, risk, schema, output }: Described): Tool {
  return {
    name,
    title,
    description,
    inputSchema: { ...schema, type: 'object' },
    ...(output && { outputSchema: outputSchemaOf(output) }),
    annotations: {
      title,
      readOnlyHint: risk === 'read',
      destructiveHint: risk === 'write' || risk === 'execute',
      openWorldHint: risk === 'network',
    },
  };
}

/** Clients check results by it, so it allows fields that later versions may add. */
function outputSchemaOf(output: z.ZodType): NonNullable<Tool['outputSchema']> {
  const known = outputSchemas.get(output);
  if (known) return known;
  const { $schema: _, ...schema } = z.toJSONSchema(output, {
    target: 'draft-7',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  const made = { ...schema, type: 'object' } as NonNullable<Tool['outputSchema']>;
  outputSchemas.set(output, made);
  return made;
}
