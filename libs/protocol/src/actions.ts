import { z } from 'zod';
import { blobId } from './models.js';

/** The names of Agent Skills are among them. */
export const actionName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    'lowercase letters, digits, _ and -, at most 64, a letter or a digit first',
  );

/** What is installed: a program for each call, instructions with files (`SKILL.md`), or a server of tools. */
export const actionKind = z.enum(['action', 'skill', 'mcp']);
export type ActionKind = z.infer<typeof actionKind>;

const sentence = z.string().trim().min(1).max(2_000);
const jsonSchema = z.record(z.string(), z.unknown());
const inputSchema = z.looseObject({
  type: z.literal('object', 'an input is an object: write "type": "object"'),
});
const hostName = z
  .string()
  .trim()
  .max(300)
  .regex(
    /^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9])?(:\d{1,5})?$/,
    'a host, as api.example.com, *.example.com or api.example.com:8443',
  );
const variableName = z
  .string()
  .regex(/^[A-Z_][A-Z0-9_]{0,99}$/, 'uppercase letters, digits and _')
  .refine(
    (name) => !/^(PATH|HOME|SHELL|IFS|LD_.*|NODE_OPTIONS|BELAY_.*)$/.test(name),
    'a variable of the system cannot be a secret',
  );
const packageNames = z
  .array(z.string().regex(/^[@A-Za-z0-9][\w.+:/@=<>~^-]{0,199}$/, 'the name of a package'))
  .max(100)
  .default([]);

/** What an action asks for; what it does not name it does not get. */
export const actionPermissions = z
  .object({
    network: z
      .array(hostName)
      .max(50)
      .default([])
      .describe('Hosts that it can reach, such as `api.example.com` or `*.example.com:8080`.'),
    secrets: z
      .array(variableName)
      .max(20)
      .default([])
      .describe('Names of the secrets that it gets as environment variables.'),
    optional_secrets: z
      .array(variableName)
      .max(20)
      .optional()
      .describe('Those of `secrets` that are optional.'),
    workspace: z
      .enum(['none', 'read', 'write'])
      .default('none')
      .describe('Whether it sees the session’s workspace, at /workspace.'),
    memory_mb: z.int().min(32).max(8_192).default(512),
    timeout_seconds: z.int().min(1).max(3_600).default(120),
    warm_seconds: z
      .int()
      .min(0)
      .max(3_600)
      .default(0)
      .describe('How long its container stays after a call, for the next one of the session.'),
  })
  .refine(
    ({ secrets, optional_secrets: optional = [] }) =>
      optional.every((one) => secrets.includes(one)),
    { path: ['optional_secrets'], message: 'names what is not in secrets' },
  );
export type ActionPermissions = z.infer<typeof actionPermissions>;

/** A further container that a call can reach by its name, for as long as the call lasts. */
export const actionService = z.object({
  image: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .optional()
    .describe('The action’s own, with its folder at /action, when omitted.'),
  environment: z.record(z.string(), z.string().max(10_000)).default({}),
  command: z.array(z.string()).max(100).optional(),
  port: z.int().min(1).max(65_535).describe('The port that answers once it is ready.'),
});
export type ActionService = z.infer<typeof actionService> & { image: string };

/**
 * `manifest.json` of an action, after RunGPT: those of its fields that RunGPT has suffice. Beside it stand `run`, an
 * executable of any language, and `setup`, which runs once at the install.
 */
export const manifestFile = z.object({
  $schema: z.string().max(2_000).optional().describe('The address of this schema, for editors.'),
  kind: z
    .enum(['action', 'mcp'])
    .optional()
    .describe('`mcp`: its program is an MCP server over standard input and output.'),
  command: z
    .array(z.string().min(1).max(2_000))
    .min(1)
    .max(100)
    .optional()
    .describe('Starts the server of the kind `mcp`, in `/action`; `run` when omitted.'),
  environment: z
    .record(variableName, z.string().max(10_000))
    .optional()
    .describe('Variables of the server of the kind `mcp`; those that are secret are `secrets`.'),
  schema_version: z.union([z.string(), z.number()]).default('v1'),
  name_for_human: z.string().trim().min(1).max(100),
  name_for_model: actionName,
  description_for_human: sentence,
  description_for_model: sentence,
  logo_url: z.string().max(2_000).optional(),
  parameters: inputSchema
    .optional()
    .describe('JSON Schema of its input, an object; a list `args` of positionals when omitted.'),
  asynchronous: z
    .boolean()
    .optional()
    .describe('Agents continue while it runs: its result comes to them in a later message.'),
  permissions: actionPermissions.default(actionPermissions.parse({})),
  packages: z
    .object({ debian: packageNames, npm: packageNames, pip: packageNames })
    .partial()
    .default({}),
  base_image: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .optional()
    .describe('The image of sandboxes when omitted.'),
  services: z.record(z.string().regex(/^[a-z][a-z0-9-]{0,39}$/), actionService).default({}),
  examples: z
    .array(
      z.object({
        title: z.string().max(200).optional(),
        input: z.record(z.string(), z.unknown()),
        contains: z.string().max(2_000).optional().describe('Text that the output must contain.'),
      }),
    )
    .max(20)
    .default([])
    .describe('Inputs that work; `belay actions test` runs them.'),
});

/** For editors, in the draft that all of them know; also `docs/action-manifest.schema.json`. */
export const manifestSchema = (): Record<string, unknown> => ({
  title: 'manifest.json of an action',
  ...z.toJSONSchema(manifestFile, { io: 'input', target: 'draft-7' }),
});

/** What is known of an action of any kind: of a skill its `SKILL.md` says it. */
export const actionManifest = manifestFile.extend({
  kind: actionKind.optional(),
  skill: z
    .object({
      instructions: z.string().describe('A fingerprint of `SKILL.md`.'),
      files: z.int().nonnegative().describe('Besides `SKILL.md`.'),
      programs: z.array(z.string()).describe('Those of them that are executable.'),
    })
    .optional(),
});
export type ActionManifest = z.infer<typeof actionManifest>;

/** Where an action came from: exactly this commit is installed. A local folder has no commit. */
export const actionSource = z.object({
  from: z.string().max(2_000).describe('`user/repo`, the URL of a git repository, or a folder.'),
  version: z.string().max(300).nullable().describe('The branch, tag or commit that was asked for.'),
  commit: z.string().nullable(),
  folder: z.string().describe('Within the repository; empty is its root.'),
});
export type ActionSource = z.infer<typeof actionSource>;

/** An installed action, as people see it. */
export const installedAction = z.object({
  name: actionName,
  kind: actionKind,
  manifest: actionManifest,
  readme: z.string().nullable(),
  source: actionSource,
  enabled: z.boolean().describe('Whether new sessions have it unless they choose.'),
  installed: z.iso.datetime({ offset: true }),
  state: z.enum(['installing', 'ready', 'failed']),
  error: z.string().nullable().describe('Why the installation failed, in one sentence.'),
  missingSecrets: z.array(z.string()).describe('Secrets that it declares and that are not set.'),
});
export type InstalledAction = z.infer<typeof installedAction>;

/** The secrets without which it does not work, and that are not set. */
export const neededSecrets = ({ manifest, missingSecrets }: InstalledAction): string[] =>
  missingSecrets.filter((key) => !manifest.permissions.optional_secrets?.includes(key));

/** An action of a source, before it is installed. */
export const actionOffer = z.object({
  name: actionName,
  kind: actionKind,
  folder: z.string(),
  manifest: actionManifest,
  warnings: z.array(z.string()),
  state: z
    .enum(['new', 'other', 'same'])
    .describe('Whether an action of this name is installed: none, another version, or this one.'),
  changes: z
    .object({ added: z.array(z.string()), removed: z.array(z.string()) })
    .describe('What changes in its permissions, in sentences.'),
});
export type ActionOffer = z.infer<typeof actionOffer>;

/** What a source has, as it was fetched: an install of it installs exactly this. */
export const foundActions = z.object({
  id: z.string().describe('For the install, valid for fifteen minutes.'),
  from: actionSource.shape.from,
  version: actionSource.shape.version,
  commit: actionSource.shape.commit,
  actions: z.array(actionOffer),
  faults: z
    .array(z.object({ folder: z.string(), fault: z.string() }))
    .describe('Folders that cannot be used, each with the reason in a sentence.'),
});
export type FoundActions = z.infer<typeof foundActions>;

/** An install that is under way or has ended. */
export const actionInstall = z.object({
  id: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  actions: z.array(
    z.object({
      name: actionName,
      state: z.enum(['waiting', 'running', 'done', 'failed']),
      error: z.string().nullable().describe('Why it failed, in one sentence.'),
    }),
  ),
  lines: z.array(z.string()).describe('The lines of the log that follow `after`.'),
  next: z.int().describe('The `after` of the lines to come.'),
});
export type ActionInstall = z.infer<typeof actionInstall>;

/** An action as a session was given it: what the model is offered never changes under it. */
export const sessionAction = z.object({
  name: actionName,
  kind: z.literal('skill').optional().describe('An action that runs when omitted.'),
  asynchronous: z
    .literal(true)
    .optional()
    .describe('The model’s calls of it run in the background.'),
  title: z.string(),
  description: z.string(),
  inputSchema: jsonSchema,
  permissions: actionPermissions,
  image: z
    .string()
    .describe(
      'The id of its image, or of a skill the hash of its files: a call gets exactly what was installed then.',
    ),
});
export type SessionAction = z.infer<typeof sessionAction>;

/** What a call of an action came to. */
export const actionOutput = z.object({
  text: z
    .string()
    .describe('Its standard output, when that is not JSON; long output lacks its middle.'),
  structured: z
    .unknown()
    .optional()
    .describe('The standard output, when it is an object or a list in JSON.'),
  errors: z.string().describe('Its standard error.'),
  exitCode: z.int(),
  seconds: z.number().nonnegative(),
  images: z.array(blobId).default([]),
  audio: z.array(blobId).default([]),
  files: z
    .array(z.object({ name: z.string(), type: z.string(), blob: blobId, bytes: z.int() }))
    .default([]),
  full: blobId.optional().describe('The whole output, when it was shortened.'),
  archive: blobId
    .optional()
    .describe('The files of a skill as a tar, which the agent puts into its sandbox.'),
});
export type ActionOutput = z.infer<typeof actionOutput>;

/** The answer of a call that goes on in the background: an `background-result` with its id brings what came of it. */
export const startedAction = z.object({
  background: z.string().max(200).describe('The id of the call.'),
  text: z.string().max(1_000),
});
export type StartedAction = z.infer<typeof startedAction>;
