import {
  AppError,
  includesScope,
  type Access,
  type ApiName,
  type RouteSubject,
  type Scope,
  type TokenSandbox,
} from '@belay/protocol';
import type { RestrictedSessions } from './restricted-sessions.js';

/** The caller of any API, and its rights. Every API decides with `may` and `reaches`, or the functions that assert them. */
export interface Caller {
  /** `owner`, `viewer`, `token:ID` or `user:ID`: the same for all its connections. */
  readonly id: string;
  /** A name for people: the token’s label, or the user’s name. */
  readonly label: string;
  readonly scope: Scope;
  readonly sessions: 'all' | SessionSet;
  /** Whether it may begin sessions, which it can then see. */
  readonly begins: boolean;
  /** The sessions that not everyone who sees them may operate. */
  readonly restricted?: Pick<RestrictedSessions, 'machineOf' | 'userOf'>;
  /** In milliseconds since 1970; null for never. */
  readonly expires: number | null;
  /** The sandbox of sessions that it begins, unless they choose one. */
  readonly sandbox?: TokenSandbox;
  /** Whether only this server knows it, as long as it runs. */
  readonly isLocal?: true;
  /** For a token: the user who made it, or made the token that made it. */
  readonly user?: string;
  /** The browser login that it used, if any. */
  readonly login?: string;
  /** The API and address of the call, for the audit log. Each API sets it when it authenticates a caller. */
  readonly via?: { readonly api: ApiName; readonly address: string | undefined };
}

/** The sessions of a caller that does not see all of them. */
export interface SessionSet {
  has(session: string): boolean;
}

const everywhere = { sessions: 'all', begins: true, expires: null } as const;
/** The caller with the first of the server’s own two tokens, and the server itself. */
export const ownerCaller: Caller = { id: 'owner', label: 'Owner', scope: 'admin', ...everywhere };
/** The caller with the server’s second token. */
export const viewerCaller: Caller = { id: 'viewer', label: 'Viewer', scope: 'view', ...everywhere };

export const sees = ({ sessions }: Caller, session: string): boolean =>
  sessions === 'all' || sessions.has(session);

export const seesAll = ({ sessions }: Caller): boolean => sessions === 'all';

/** The user that a caller is or acts for, by id: `owner`, `viewer` or `user:ID`. */
export const userOf = ({ id, user = id }: Pick<Caller, 'id' | 'user'>): string => user;

/** The APIs whose requests are written by a language model, which whatever it reads may instruct. */
const apisOfModels: ReadonlySet<ApiName | undefined> = new Set<ApiName>(['mcp', 'gpt']);

/** Whether a language model wrote the caller’s request. */
export const isModelRequest = ({ via }: Pick<Caller, 'via'>): boolean => apisOfModels.has(via?.api);

/**
 * Whether a caller’s request may name something of the host: a file, a folder, or a machine without containers.
 * Everything else that a request names is resolved within what its caller owns.
 */
export const mayNameHost = (caller: Caller): boolean =>
  may(caller, 'admin') && !isModelRequest(caller);

/**
 * Throws `forbidden` unless the caller may begin sessions with its user’s own sign-in to an agent, whose programs could
 * read the credential: not for what a model asks for, nor for a token that the user lent for some sessions.
 */
export function assertMaySignIn(caller: Caller): void {
  assertMay(caller, 'operate');
  if (seesAll(caller) && !isModelRequest(caller)) return;
  throw new AppError(
    'forbidden',
    'Only a user may begin a session with their own sign-in: no token for some sessions, and no model over MCP or a GPT. Leave out `login`.',
  );
}

/** Whether a caller may see what the terminals of a session print: they may show the credential of a user’s sign-in. */
export const seesTerminals = (caller: Caller, session: string): boolean =>
  caller.restricted?.userOf(session) === undefined || may(caller, 'operate', session);

/** The only check of a caller’s rights, on one session or on none. */
export function may(caller: Caller | undefined, access: Access, session?: string): boolean {
  return refusal(caller, access, session) === undefined;
}

/**
 * Throws `unauthorized` without a caller; `not_found` for a session that the caller cannot see, as if it did not
 * exist; `forbidden` for anything beyond its scope.
 */
export function assertMay(
  caller: Caller | undefined,
  access: Access,
  session?: string,
): asserts caller is Caller {
  const refused = refusal(caller, access, session);
  if (refused) throw refused();
}

/**
 * Whether a caller may see or use something at all, apart from its scope: one that does not see all sessions has
 * nothing of the server but what its own sessions start with.
 */
export const reaches = (caller: Caller, about: RouteSubject): boolean =>
  about === 'caller' || seesAll(caller) || (about === 'starting' && caller.begins);

/** Throws `forbidden` for what the caller does not reach. */
export function assertReaches(caller: Caller, about: RouteSubject): void {
  if (reaches(caller, about)) return;
  throw new AppError(
    'forbidden',
    'This token is for some sessions, and for nothing else of the server. Use a token for all sessions.',
  );
}

/** Throws unless the caller may begin sessions of its own. */
export function assertMayBegin(caller: Caller): void {
  assertMay(caller, 'operate');
  if (caller.begins) return;
  const remedy = 'Use a token for all sessions, or one made with `--session own`.';
  throw new AppError(
    'forbidden',
    `This token is for certain sessions and cannot start any. ${remedy}`,
  );
}

/** The error for a session that does not exist, or that the caller may not see. */
export const noSuchSession = (session: string): AppError =>
  new AppError('not_found', `There is no session ${session}.`);

export const unauthorized = (): AppError =>
  new AppError(
    'unauthorized',
    'Log in with the address that the server printed when it started, or run: npx belay open',
  );

/** Makes the error only for those who throw it, as recording its stack takes most of the time. */
function refusal(
  caller: Caller | undefined,
  access: Access,
  session?: string,
): (() => AppError) | undefined {
  if (access === 'open') return undefined;
  if (!caller || hasExpired(caller)) return unauthorized;
  if (session !== undefined && !sees(caller, session)) return () => noSuchSession(session);
  if (includesScope(caller.scope, access)) {
    if (access === 'view' || session === undefined) return undefined;
    if (!mayUseMachineOf(caller, session)) return unconfined;
    return mayUseSignInOf(caller, session) ? undefined : signedInByAnother;
  }
  return caller.scope === 'view' ? mayOnlyWatch : mayNotAdminister;
}

export const hasExpired = ({ expires }: Pick<Caller, 'expires'>): boolean =>
  expires !== null && expires <= Date.now();

/** On a bare machine, a session is for callers who may name the host, and for tokens that an admin gave the machine. */
function mayUseMachineOf(caller: Caller, session: string): boolean {
  const machine = caller.restricted?.machineOf(session);
  return machine === undefined || caller.sandbox?.machine === machine || mayNameHost(caller);
}

/** Whoever operates a session can read what its sandbox has, as the owner of the server’s machine can anyway. */
function mayUseSignInOf(caller: Caller, session: string): boolean {
  const user = caller.restricted?.userOf(session);
  return user === undefined || [user, ownerCaller.id].includes(userOf(caller));
}

const signedInByAnother = (): AppError =>
  new AppError(
    'forbidden',
    'The agent of this session uses another user’s own sign-in: only that user may operate the session. Begin one of your own.',
  );

const unconfined = (): AppError =>
  new AppError(
    'forbidden',
    'This session runs on a bare machine, where nothing is confined: only an admin may operate it, and not over MCP or through a GPT. An admin can give a token this machine.',
  );

const mayOnlyWatch = (): AppError =>
  new AppError('forbidden', 'This token is read-only. Use the server’s main token.');

const mayNotAdminister = (): AppError =>
  new AppError('forbidden', 'This requires the scope admin. Use the server’s main token.');
