import { z } from 'zod';
import { isLoopbackHost, loopbackIsOwn } from './host-entry.js';
import { imageReference } from './image-reference.js';
import { blobId } from './models.js';

/** Every valid name of an Agent Skill is also valid here. */
export const actionName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    'lowercase letters, digits, _ and -, at most 64, starting with a letter or digit',
  );

/** The kind of an installed action: a program that runs for each call, instructions with files (`SKILL.md`), or a server with tools. */
export const actionKind = z.enum(['action', 'skill', 'mcp']);
export type ActionKind = z.infer<typeof actionKind>;

const sentence = z.string().trim().min(1).max(2_000);
const jsonSchema = z.record(z.string(), z.unknown());
const inputSchema = z.looseObject({
  type: z.literal('object', 'the input must be an object: write "type": "object"'),
});
const hostName = z
  .string()
  .trim()
  .max(300)
  .regex(
    /^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9])?(:\d{1,5})?$/,
    'a host, such as api.example.com, *.example.com or api.example.com:8443',
  )
  .refine((host) => !isLoopbackHost(host), loopbackIsOwn);
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

/** The permissions that an action asks for; it gets no others. */
export const actionPermissions = z
  .strictObject({
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
      .describe('Access to the session’s workspace, which is at /workspace.'),
    memory_mb: z.int().min(32).max(8_192).default(512),
    timeout_seconds: z.int().min(1).max(3_600).default(120),
    warm_seconds: z
      .int()
      .min(0)
      .max(3_600)
      .default(0)
      .describe(
        'The number of seconds that its container is kept after a call, for the session’s next call.',
      ),
  })
  .refine(
    ({ secrets, optional_secrets: optional = [] }) =>
      optional.every((one) => secrets.includes(one)),
    { path: ['optional_secrets'], message: 'names what is not in secrets' },
  );
export type ActionPermissions = z.infer<typeof actionPermissions>;

/** Another container that a call can reach by name while the call runs. */
export const actionService = z.strictObject({
  image: imageReference
    .optional()
    .describe('If omitted, the action’s own image, with its folder at /action.'),
  environment: z.record(z.string(), z.string().max(10_000)).default({}),
  command: z.array(z.string()).max(100).optional(),
  port: z
    .int()
    .min(1)
    .max(65_535)
    .describe('The port that accepts connections once the service is ready.'),
});
export type ActionService = z.infer<typeof actionService> & { image: string };

/**
 * `manifest.json` of an action, after RunGPT: the fields that RunGPT has are sufficient. The same folder has `run`, an
 * executable in any language, and optionally `setup`, which runs once during installation.
 */
export const manifestFile = z.object({
  $schema: z.string().max(2_000).optional().describe('The URL of this schema, for editors.'),
  kind: z
    .enum(['action', 'mcp'])
    .optional()
    .describe('`mcp`: its program is an MCP server over standard input and output.'),
  command: z
    .array(z.string().min(1).max(2_000))
    .min(1)
    .max(100)
    .optional()
    .describe('The command that starts a server of kind `mcp`, in `/action`; `run` if omitted.'),
  environment: z
    .record(variableName, z.string().max(10_000))
    .optional()
    .describe('Environment variables of a server of kind `mcp`; secret ones belong in `secrets`.'),
  schema_version: z.union([z.string(), z.number()]).pipe(z.coerce.string()).default('v1'),
  name_for_human: z.string().trim().min(1).max(100),
  name_for_model: actionName,
  description_for_human: sentence,
  description_for_model: sentence,
  logo_url: z.string().max(2_000).optional(),
  parameters: inputSchema
    .optional()
    .describe(
      'JSON Schema of the input, an object; if omitted, a list `args` of positional arguments.',
    ),
  asynchronous: z
    .boolean()
    .optional()
    .describe('Agents continue while it runs, and get its result in a later message.'),
  permissions: actionPermissions.default(actionPermissions.parse({})),
  packages: z
    .strictObject({ debian: packageNames, npm: packageNames, pip: packageNames })
    .partial()
    .default({}),
  base_image: imageReference.optional().describe('If omitted, the image of sandboxes.'),
  services: z.record(z.string().regex(/^[a-z][a-z0-9-]{0,39}$/), actionService).default({}),
  examples: z
    .array(
      z.strictObject({
        title: z.string().max(200).optional(),
        input: z.record(z.string(), z.unknown()),
        contains: z.string().max(2_000).optional().describe('Text that the output must contain.'),
      }),
    )
    .max(20)
    .default([])
    .describe('Inputs that must succeed; `belay actions test` runs them.'),
});

/** For editors, in the draft that all of them support; also in `docs/action-manifest.schema.json`. */
export const manifestSchema = (): Record<string, unknown> => ({
  title: 'manifest.json of an action',
  ...z.toJSONSchema(manifestFile, { io: 'input', target: 'draft-7' }),
});

/** The manifest of an action of any kind; that of a skill is derived from its `SKILL.md`. */
export const actionManifest = manifestFile.extend({
  kind: actionKind.optional(),
  skill: z
    .object({
      instructions: z.string().describe('A fingerprint of `SKILL.md`.'),
      files: z.int().nonnegative().describe('The number of files besides `SKILL.md`.'),
      programs: z.array(z.string()).describe('The executable ones of these files.'),
    })
    .optional(),
});
export type ActionManifest = z.infer<typeof actionManifest>;

/** The source of an action: exactly this commit is installed. A local folder has no commit. */
export const actionSource = z.object({
  from: z.string().max(2_000).describe('`user/repo`, the URL of a git repository, or a folder.'),
  version: z.string().max(300).nullable().describe('The branch, tag or commit that was asked for.'),
  commit: z.string().nullable(),
  folder: z.string().describe('The folder within the repository; empty for the root.'),
});
export type ActionSource = z.infer<typeof actionSource>;

/** An installed action, as people see it. */
export const installedAction = z.object({
  name: actionName,
  kind: actionKind,
  manifest: actionManifest,
  readme: z.string().nullable(),
  source: actionSource,
  enabled: z.boolean().describe('Whether new sessions have it by default.'),
  installed: z.iso.datetime({ offset: true }),
  state: z.enum(['installing', 'ready', 'failed']),
  error: z.string().nullable().describe('Why the installation failed, in one sentence.'),
  missingSecrets: z.array(z.string()).describe('Declared secrets that are not set.'),
});
export type InstalledAction = z.infer<typeof installedAction>;

/** The secrets without which an action does not run. */
export const requiredSecrets = ({
  secrets,
  optional_secrets: optional = [],
}: ActionPermissions): string[] => secrets.filter((key) => !optional.includes(key));

/** Required secrets that are not set. */
export const neededSecrets = ({ manifest, missingSecrets }: InstalledAction): string[] =>
  requiredSecrets(manifest.permissions).filter((key) => missingSecrets.includes(key));

/** An action in a source, before it is installed. */
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
    .describe('The changes of its permissions and its source, as sentences.'),
});
export type ActionOffer = z.infer<typeof actionOffer>;

/** The content of a source when it was fetched: an install uses exactly this. */
export const foundActions = z.object({
  id: z.string().describe('The id for the install; valid for fifteen minutes.'),
  from: actionSource.shape.from,
  version: actionSource.shape.version,
  commit: actionSource.shape.commit,
  actions: z.array(actionOffer),
  faults: z
    .array(z.object({ folder: z.string(), fault: z.string() }))
    .describe('Folders that cannot be used, each with the reason.'),
});
export type FoundActions = z.infer<typeof foundActions>;

/** An install that is running or has ended. */
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
  lines: z.array(z.string()).describe('The lines of the log from `after` on.'),
  next: z.int().describe('The value of `after` for the next lines.'),
});
export type ActionInstall = z.infer<typeof actionInstall>;

/** An action as it was when the session started: the offer to the model never changes during a session. */
export const sessionAction = z.object({
  name: actionName,
  kind: z.literal('skill').optional().describe('If omitted, an action that runs a program.'),
  asynchronous: z.literal(true).optional().describe('The model’s calls run in the background.'),
  title: z.string(),
  description: z.string(),
  inputSchema: jsonSchema,
  permissions: actionPermissions,
  image: z
    .string()
    .describe(
      'The id of the image, or for a skill the hash of its files: calls always use what was installed at the start.',
    ),
});
export type SessionAction = z.infer<typeof sessionAction>;

/** The outcome of a call of an action. */
export const actionOutput = z.object({
  text: z
    .string()
    .describe('The standard output, if it is not JSON; the middle of long output is left out.'),
  structured: z
    .unknown()
    .optional()
    .describe('The standard output, if it is a JSON object or list.'),
  errors: z.string().describe('The standard error output.'),
  exitCode: z.int(),
  seconds: z.number().nonnegative(),
  images: z.array(blobId).default([]),
  audio: z.array(blobId).default([]),
  files: z
    .array(z.object({ name: z.string(), type: z.string(), blob: blobId, bytes: z.int() }))
    .default([]),
  full: blobId.optional().describe('The whole output, if it was shortened.'),
  archive: blobId
    .optional()
    .describe('The files of a skill as a tar archive, which the agent unpacks into its sandbox.'),
});
export type ActionOutput = z.infer<typeof actionOutput>;

/** The response of a call that continues in the background: a `background-result` event with its id has the outcome. */
export const startedAction = z.object({
  background: z.string().max(200).describe('The id of the call.'),
  text: z.string().max(1_000),
});
export type StartedAction = z.infer<typeof startedAction>;
