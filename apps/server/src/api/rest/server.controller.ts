import { Req, Res } from '@nestjs/common';
import {
  api,
  openApiDocument,
  roleOfScope,
  type Check,
  type Example,
  type RouteResult,
  type UsageOfAll,
} from '@belay/protocol';
import type { Request, Response } from 'express';
import { stringify } from 'yaml';
import { DirectCalls } from '../../actions/direct-calls.js';
import { may, seesAll } from '../../access/caller.js';
import { UsersStore } from '../../access/users.store.js';
import { Examples } from '../../sessions/examples.js';
import { SessionService } from '../../sessions/session.service.js';
import { usageOf } from '../../sessions/usage-of.js';
import { callerOf } from '../auth/access.guard.js';
import { baseUrlOf } from '../base-url.js';
import { Logins } from '../auth/logins.js';
import { RestController } from './rest-controller.js';
import { ServerChecks } from './server-checks.js';

const codeMs = 10 * 60_000;

/** The OpenAPI document apart from the server’s address, and its YAML once that was asked for. */
interface BuiltOpenApi {
  key: string;
  document: Record<string, unknown>;
  yaml?: string;
}

/** Information about the server itself. */
@RestController(api.server)
export class ServerController {
  /** Rebuilt on request when other actions are installed; that takes a tenth of a second, and the YAML takes longer. */
  #openApi: BuiltOpenApi | undefined;

  constructor(
    private readonly logins: Logins,
    private readonly state: ServerChecks,
    private readonly shipped: Examples,
    private readonly sessions: SessionService,
    private readonly users: UsersStore,
    private readonly actions: DirectCalls,
  ) {}

  /** The dashboard shows a caller only the buttons that it may use. */
  me(_: unknown, @Req() request: Request): RouteResult<typeof api.server.me> {
    const caller = callerOf(request);
    const { scope, label, expires } = caller;
    return {
      role: roleOfScope(scope),
      scope,
      label,
      sessions: seesAll(caller) ? 'all' : 'some',
      expires: expires === null ? null : new Date(expires).toISOString(),
      hasPassword: this.users.hasPassword(caller),
    };
  }

  async loginCode(_: unknown, @Req() request: Request): Promise<{ code: string }> {
    return { code: await this.logins.newCode(callerOf(request), codeMs) };
  }

  endLogins(): Promise<void> {
    return this.logins.endAll();
  }

  /** Only an admin is told what the host has; everyone else needs to know only what works. */
  async checks(_: unknown, @Req() request: Request): Promise<Check[]> {
    const all = await this.state.all();
    return may(callerOf(request), 'admin') ? all : all.map(inShort);
  }

  examples(): Promise<Example[]> {
    return this.shipped.list();
  }

  /** The usage of the sessions that the caller sees. */
  async usage(_: unknown, @Req() request: Request): Promise<UsageOfAll> {
    return usageOf(await this.sessions.list(callerOf(request)));
  }

  openApiYaml(_: unknown, @Req() request: Request, @Res() response: Response): void {
    const built = this.#builtFor(request);
    built.yaml ??= stringify(built.document, { aliasDuplicateObjects: false });
    response
      .type(api.server.openApiYaml.response.bytes)
      .send(built.yaml + stringify(serversOf(request)));
  }

  openApi(_: unknown, @Req() request: Request): Record<string, unknown> {
    return { ...this.#builtFor(request).document, ...serversOf(request) };
  }

  #builtFor(request: Request): BuiltOpenApi {
    const installed = this.actions.offered(callerOf(request));
    const key = JSON.stringify(
      installed.map(({ operation: { title, risk }, tool }) => [title, risk, tool]),
    );
    if (this.#openApi?.key !== key) {
      const { servers: _, ...document } = openApiDocument(installed);
      this.#openApi = { key, document };
    }
    return this.#openApi;
  }
}

const serversOf = (request: Request) => ({ servers: [{ url: baseUrlOf(request) }] });

const inShort = ({ name, ok }: Check): Check => ({
  name,
  ok,
  detail: ok ? 'It works.' : 'It does not work.',
  remedy: ok ? null : 'Ask an admin: `belay doctor` tells them the reason.',
});
