import { z } from 'zod';
import { blobId } from './models.js';

/** Stands in the names of its tools, which providers hold to 64 characters: hence short, and without `_`. */
export const mcpServerName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,23}$/, 'lowercase letters, digits and -, at most 24');

/** A tool of an MCP server as a session was given it: what the model is offered never changes under it. */
export const mcpTool = z.object({
  server: mcpServerName,
  name: z.string().min(1).max(200),
  title: z.string().optional(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()).describe('JSON Schema, as the server gave it.'),
  installed: z.boolean().optional().describe('Whether its server is installed as an action.'),
});
export type McpTool = z.infer<typeof mcpTool>;

/** What a call of a tool came to. */
export const mcpOutput = z.object({
  text: z.string(),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  images: z.array(blobId).optional(),
  omittedCharacters: z.int().positive().optional(),
  full: blobId.optional().describe('The whole text, when it was shortened.'),
});
export type McpOutput = z.infer<typeof mcpOutput>;

/** Values of headers and variables are written and never read; null keeps the one that is saved. */
const secrets = z.record(z.string().min(1).max(200), z.string().max(10_000).nullable());

/** Hosts as `egress` of a session names them, without sets. */
export const programHosts = z
  .array(
    z
      .string()
      .trim()
      .regex(
        /^(\*\.)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:\d{1,5})?$/i,
        'a host: name, name:port or *.name',
      ),
  )
  .max(50)
  .default([])
  .describe('Hosts that it can reach from its container: name, name:port or *.name.');

export const mcpTransport = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('http'),
    url: z.url({ protocol: /^https?$/ }).refine((url) => !/^https?:\/\/[^/]*@/.test(url), {
      message: 'put names and passwords into a header',
    }),
    headers: secrets.default({}),
  }),
  z.object({
    type: z.literal('stdio'),
    command: z.string().trim().min(1).max(2_000),
    args: z.array(z.string()).default([]),
    env: secrets.default({}),
    host: z
      .boolean()
      .default(false)
      .describe('Runs on the server’s machine with its user’s rights, instead of in a container.'),
    image: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .nullable()
      .default(null)
      .describe('The image of its container; null is the sandbox image.'),
    folder: z
      .string()
      .max(1_000)
      .startsWith('/', 'the absolute path of a folder')
      .nullable()
      .default(null)
      .describe('The one folder of the server’s machine that its container sees, to read.'),
    hosts: programHosts,
  }),
]);
export type McpTransport = z.infer<typeof mcpTransport>;

const settings = {
  transport: mcpTransport,
  enabled: z.boolean(),
  tools: z
    .array(z.string())
    .nullable()
    .describe('Names of the tools offered; null is all of them.'),
};

export const newMcpServer = z.object({
  name: mcpServerName,
  transport: settings.transport,
  enabled: settings.enabled.default(true),
  tools: settings.tools.default(null),
});
export type NewMcpServer = z.input<typeof newMcpServer>;

/** What is left out stays as it is. */
export const mcpServerChange = z.object(settings).partial();
export type McpServerChange = z.input<typeof mcpServerChange>;

/** An MCP server as people see it: of its secrets only the names. */
export const mcpServer = z.object({
  name: z.string(),
  installed: z
    .boolean()
    .optional()
    .describe('Whether it is installed as an action, and is changed there.'),
  transport: z.discriminatedUnion('type', [
    z.object({ type: z.literal('http'), url: z.string(), headers: z.array(z.string()) }),
    z.object({
      type: z.literal('stdio'),
      command: z.string(),
      args: z.array(z.string()),
      env: z.array(z.string()),
      host: z.boolean(),
      image: z.string().nullable(),
      folder: z.string().nullable(),
      hosts: z.array(z.string()),
    }),
  ]),
  enabled: z.boolean(),
  tools: z.array(z.string()).nullable(),
  state: z.enum(['off', 'connecting', 'connected', 'failed']),
  error: z.string().nullable().describe('Why it failed, in one sentence.'),
  offered: z
    .array(
      z.object({
        name: z.string(),
        title: z.string(),
        description: z.string(),
        readOnly: z.boolean(),
      }),
    )
    .describe('The tools that it has, chosen or not.'),
});
export type McpServer = z.infer<typeof mcpServer>;
