import { z } from 'zod';
import { machineName } from './machines.js';
import type { Role } from './operation.js';
import { imageReference } from './image-reference.js';
import { sandboxProfile } from './session.js';
import { visibleLine } from './visible-text.js';

/**
 * The rights of a caller: `view` only reads, `operate` also starts and steers sessions, `admin` also manages settings,
 * keys, MCP servers, rules, tokens and users.
 */
export const scope = z.enum(['view', 'operate', 'admin']);
export type Scope = z.infer<typeof scope>;

/** Whether a caller with one scope may do what requires another. */
export const includesScope = (has: Scope, needed: Scope): boolean =>
  scope.options.indexOf(has) >= scope.options.indexOf(needed);

/** The role of a scope: it may call the operations for users, or those for viewers. */
export const roleOfScope = (has: Scope): Role => (has === 'view' ? 'viewer' : 'user');

/** The prefix of every stored token, so that people and secret scanners recognize one. */
export const tokenPrefix = 'blt_';

/** A session’s id, or a prefix of ids followed by `*`. */
export const sessionPattern = z
  .string()
  .regex(/^[\w-]{1,100}\*?$/, 'a session’s id, or a prefix of ids followed by *');

/** The sessions that a token gives access to: all, those that it started, or those that match. */
export const sessionAccess = z
  .union([z.enum(['all', 'own']), z.array(sessionPattern).min(1).max(200)])
  .describe('`all`, `own`, or a list of ids, each of which may end with `*` to match a prefix.');
export type SessionAccess = z.infer<typeof sessionAccess>;

export const tokenLabel = visibleLine(
  z.string().trim().min(1, 'name the program that will use it').max(100),
  'a label is one line of visible text',
);

const expires = z.iso.datetime({ offset: true });

/**
 * Where the sessions that a token begins run, unless they choose another machine or image. The admin who makes the token
 * decides, so that a GPT gets its user’s machine without naming it. They get no more rights there than its profile has.
 */
export const tokenSandbox = z.object({
  machine: machineName.nullable().default(null).describe('A joined machine; null for the server.'),
  image: imageReference.nullable().default(null).describe('A Docker image; null for the default.'),
  profile: sandboxProfile,
});
export type TokenSandbox = z.infer<typeof tokenSandbox>;

export const newToken = z
  .object({
    label: tokenLabel,
    scope,
    sessions: sessionAccess.default('all'),
    expires: expires
      .refine((time) => Date.parse(time) > Date.now(), 'choose a time in the future')
      .nullable()
      .default(null),
    sandbox: tokenSandbox
      .optional()
      .describe('The sandbox of sessions that it begins; if omitted, the usual one.'),
  })
  .refine(({ scope: has, sessions }) => has !== 'admin' || sessions === 'all', {
    message: 'a token with the scope admin is for all sessions',
    path: ['sessions'],
  });
export type NewToken = z.infer<typeof newToken>;

/** A stored token, without its secret. */
export const tokenInfo = z.object({
  id: z.string(),
  label: z.string(),
  scope,
  sessions: sessionAccess,
  created: z.iso.datetime({ offset: true }),
  expires: expires.nullable(),
  sandbox: tokenSandbox.optional(),
  lastUsed: z.iso.datetime({ offset: true }).nullable(),
});
export type TokenInfo = z.infer<typeof tokenInfo>;

/** A new token: its secret is known only now. */
export const madeToken = tokenInfo.extend({
  token: z.string().describe('The token itself. It is shown only once.'),
});
export type MadeToken = z.infer<typeof madeToken>;

/** The name of an account on a team’s server. */
export const userName = z
  .string()
  .trim()
  .toLowerCase()
  .regex(
    /^[a-z0-9][\w.+@-]{0,99}$/,
    'a name has letters, digits and . _ + @ -, at most 100, and begins with a letter or digit',
  );

/** Only the length is checked; the maximum bounds the hashing for anyone who tries to log in. */
export const password = z
  .string()
  .min(10, 'a password has at least 10 characters')
  .max(200, 'a password has at most 200 characters');

export const newUser = z.object({ name: userName, password, scope });
export type NewUser = z.infer<typeof newUser>;

export const userChange = z
  .object({ password: password.optional(), scope: scope.optional() })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    message: 'give a password or a scope',
  });
export type UserChange = z.infer<typeof userChange>;

/** A change of the user’s own password. */
export const passwordChange = z.object({
  name: userName,
  password: z.string().max(200).describe('The current password.'),
  newPassword: password,
});

export const userInfo = z.object({
  id: z.string(),
  name: z.string(),
  scope,
  logsInBy: z
    .enum(['password', 'oidc'])
    .describe('With a password, or through the identity provider.'),
  created: z.iso.datetime({ offset: true }),
  lastLogin: z.iso.datetime({ offset: true }).nullable(),
});
export type UserInfo = z.infer<typeof userInfo>;

/**
 * The names of the APIs in the audit log. Clients report `cli` and `dashboard` themselves; `automation` is what an automation
 * did by itself.
 */
export const apiName = z.enum([
  'rest',
  'dashboard',
  'cli',
  'gpt',
  'mcp',
  'ws',
  'acp',
  'login',
  'automation',
]);
export type ApiName = z.infer<typeof apiName>;

/** One change, or one refusal. */
export const auditEntry = z.object({
  id: z.int(),
  time: z.iso.datetime({ offset: true }),
  caller: z
    .string()
    .nullable()
    .describe(
      '`owner`, `viewer`, `token:ID`, `user:ID`, `automation:ID` or `repository:ID`; null for an unauthenticated caller.',
    ),
  label: z.string().nullable(),
  api: apiName,
  action: z.string().describe('The route, such as `sessions.stop`, or the operation.'),
  session: z.string().nullable(),
  subject: z.string().describe('The subject of the action in one line, without its input.'),
  address: z.string().nullable(),
  outcome: z.string().describe('`ok`, or the error’s code.'),
});
export type AuditEntry = z.infer<typeof auditEntry>;

export const auditPage = z.object({
  entries: z.array(auditEntry),
  next: z.int().nullable().describe('`before` of the next page; null at the end.'),
});
export type AuditPage = z.infer<typeof auditPage>;
