import { Logger } from '@nestjs/common';
import { AppError, problemOf } from '@belay/protocol';
import type { Request, Response } from 'express';
import type { AuditLog } from '../../access/audit-log.js';
import type { Caller } from '../../access/caller.js';
import type { UsersStore } from '../../access/users.store.js';
import type { Config } from '../../config.js';
import { sentError } from '../problem.js';
import { cookieName, loginCookies } from './cookies.js';
import type { Identity } from './identity.js';
import { lockedPage } from './locked-page.js';
import { readLoginForm } from './login-form.js';
import { loginScript } from './login-script.js';
import type { Logins } from './logins.js';
import { wrongPassword, type PasswordCheck } from './password-check.js';
import { OidcLogin, oidcPath, oidcReturnPath } from './oidc-login.js';

const loginPath = '/login';
const loginScriptPath = '/login.js';

export interface LoginOptions {
  config: Config;
  identity: Identity;
  logins: Logins;
  users: UsersStore;
  passwords: PasswordCheck;
  audit: AuditLog;
}

/**
 * All ways to log in. `?token=` or `?code=` in an address, a name with its password, or the identity provider create a
 * login: a cookie, and a key in the fragment of `/login`, which no server sees and which that page’s script stores.
 * Only passwords can be guessed, so only they have a limit: wrong tokens and codes cost nobody anything.
 */
export class LoginPages {
  readonly #logger = new Logger('Login');
  readonly #options: LoginOptions;
  readonly #provider: OidcLogin | undefined;

  constructor(options: LoginOptions) {
    this.#options = options;
    const { oidc, publicUrl } = options.config;
    this.#provider = oidc && new OidcLogin(oidc, publicUrl);
  }

  /** Handles a request of the login pages; false for other requests. */
  take(request: Request, response: Response): boolean {
    const work = this.#work(request, response);
    work?.().catch((error: unknown) => this.#fail(request, response, error));
    return work !== undefined;
  }

  /** The response for a browser without a login. */
  locked(request: Request, response: Response, fault?: string, status = 401): void {
    const { users } = this.#options;
    const choices = { hasPasswords: users.hasPasswords, hasProvider: this.#provider !== undefined };
    const to = request.method === 'GET' ? addressWithout(request, ['token', 'code']) : '/';
    // With `no-referrer`, a browser would send the form without its origin.
    response.status(status).set('referrer-policy', 'same-origin').type('html');
    response.send(lockedPage(fault, choices, to));
  }

  #work(request: Request, response: Response): (() => Promise<void>) | undefined {
    const { method, path, query } = request;
    if (method === 'POST' && path === loginPath) return () => this.#byPassword(request, response);
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    if (method === 'GET' && isNavigation(request)) {
      if (textOf(query['token']) !== undefined) return () => this.#byToken(request, response);
      if (path === oidcPath && this.#provider) return () => this.#toProvider(request, response);
      if (path === oidcReturnPath && this.#provider)
        return () => this.#fromProvider(request, response);
      if (textOf(query['code']) !== undefined) return () => this.#byCode(request, response);
    }
    if (path === loginScriptPath)
      return async () => void response.type('text/javascript').send(loginScript);
    if (path === loginPath) return async () => this.locked(request, response, undefined, 200);
    return undefined;
  }

  async #byToken(request: Request, response: Response): Promise<void> {
    const caller = this.#options.identity.callerOfToken(textOf(request.query['token']) ?? '');
    if (!caller) return this.#wrong(request, response, 'That is not a token of this server.');
    await this.#begin(request, response, caller, addressWithout(request, ['token', 'code']));
  }

  async #byCode(request: Request, response: Response): Promise<void> {
    const { identity, logins } = this.#options;
    const to = addressWithout(request, ['token', 'code']);
    const id = await logins.takeCode(textOf(request.query['code']) ?? '');
    const caller = id === undefined ? undefined : identity.callerById(id);
    // A used link keeps working in the browser that used it.
    if (!caller && identity.hasLogin(request.headers)) return response.redirect(302, to);
    if (!caller)
      return this.#wrong(request, response, 'That link has already been used or has expired.');
    await this.#begin(request, response, caller, to);
  }

  /** Responds with the same sentence, after the same time, whether the user exists or not. */
  async #byPassword(request: Request, response: Response): Promise<void> {
    const { name, password, to } = await readLoginForm(request);
    const caller = await this.#options.passwords.caller(addressOf(request), name, password);
    if (!caller) {
      this.#record(request, undefined, 'unauthorized', name);
      return this.locked(request, response, wrongPassword);
    }
    await this.#begin(request, response, caller, to);
  }

  async #toProvider(request: Request, response: Response): Promise<void> {
    await this.#provider?.begin(request, response);
  }

  async #fromProvider(request: Request, response: Response): Promise<void> {
    const found = await this.#provider?.finish(request, response);
    if (!found) return;
    const caller = await this.#options.users.provided(found.user);
    if (!caller) throw notForYou();
    await this.#begin(request, response, caller, found.to);
  }

  async #begin(request: Request, response: Response, caller: Caller, to: string): Promise<void> {
    const known = loginCookies(request.headers.cookie);
    const { cookie, key, maxAgeMs } = await this.#options.logins.create(caller, known);
    response.cookie(cookieName(request.socket.localPort ?? 0, request.secure), cookie, {
      httpOnly: true,
      sameSite: 'strict',
      path: '/',
      secure: request.secure,
      maxAge: maxAgeMs,
    });
    this.#record(request, caller, 'ok');
    response.redirect(302, `${loginPath}#${new URLSearchParams({ key, to }).toString()}`);
  }

  #wrong(request: Request, response: Response, fault: string): void {
    this.#record(request, undefined, 'unauthorized');
    this.locked(request, response, fault);
  }

  #fail(request: Request, response: Response, thrown: unknown): void {
    const error = sentError(thrown, this.#logger);
    this.#record(request, undefined, error.code);
    if (response.headersSent) return void response.destroy();
    if (error.code === 'limit_reached') response.set('retry-after', '60');
    this.locked(request, response, error.message, problemOf(error).status);
  }

  #record(request: Request, caller: Caller | undefined, outcome: string, subject = ''): void {
    const address = addressOf(request);
    this.#options.audit.record({
      api: 'login',
      action: 'login',
      address,
      caller,
      subject,
      outcome,
    });
  }
}

/** False for the pictures, scripts and frames of any page, which log nobody in. Only browsers send the header. */
const isNavigation = ({ headers }: Request): boolean =>
  (headers['sec-fetch-dest'] ?? 'document') === 'document';

/** An aborted request has no socket any more. */
const addressOf = ({ socket }: { socket: Request['socket'] | null }): string =>
  socket?.remoteAddress ?? '';

const notForYou = (): AppError =>
  new AppError(
    'forbidden',
    'This account may not use this server. Ask its owner to add your group or mail address.',
  );

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The requested address without these parameters. A path that begins with two slashes would lead to another host. */
function addressWithout(request: Request, names: readonly string[]): string {
  const rest = new URLSearchParams(request.url.split('?')[1]);
  for (const name of names) rest.delete(name);
  const query = rest.toString();
  if (request.path.startsWith(loginPath)) return '/';
  return request.path.replace(/^[/\\]+/, '/') + (query && `?${query}`);
}
