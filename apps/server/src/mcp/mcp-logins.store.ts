import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AppError, ownValue } from '@belay/protocol';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Semaphore } from 'async-mutex';
import { z } from 'zod';
import { Database } from '../storage/database.js';
import type { Document } from '../storage/document.js';
import { Documents } from '../storage/documents.js';
import { ExpiringValues } from '../storage/expiring-values.js';
import { KeyedMutex } from '../storage/keyed-mutex.js';
import { OneTimeCodes } from '../storage/one-time-codes.js';
import { whileLocked } from '../storage/while-locked.js';
import { McpFailure } from './mcp-failure.js';

const login = z.object({
  /** The MCP server’s address; another address needs another login. */
  url: z.string(),
  redirect: z.string(),
  client: z.looseObject({ client_id: z.string() }).optional(),
  tokens: z.looseObject({ access_token: z.string(), token_type: z.string() }).optional(),
});
type Login = z.infer<typeof login>;

/** A login whose user is on the other server’s page; `verifier` shows that server who asked (PKCE). */
const begunLogin = z.object({ name: z.string(), login, verifier: z.string() });

/** How long the user may take on the other server’s page. */
const pendingMs = 10 * 60_000;
/** Logins that are renewed at a time: each takes one of the ten connections of a server, and needs more of them. */
const maxRenewals = 3;
/** The delay before it is looked at again whether another server has renewed a login, in milliseconds. */
const lookAgainMs = 100;

export interface Renewal {
  /** The access token that was refused. */
  used: string;
  work: () => Promise<unknown>;
  /** Ends the wait for another server. */
  signal?: AbortSignal | undefined;
}

/** The logins at remote MCP servers (OAuth). */
@Injectable()
export class McpLogins {
  readonly #document: Document<z.ZodRecord<z.ZodString, typeof login>>;
  /** By the `state` with which the user comes back, to whichever server is asked then. */
  readonly #begun;
  readonly #renewals = new KeyedMutex();
  readonly #places = new Semaphore(maxRenewals);

  constructor(
    documents: Documents,
    values: ExpiringValues,
    private readonly database: Database,
  ) {
    this.#document = documents.open('mcp-logins', z.record(z.string(), login), {});
    this.#begun = new OneTimeCodes(values, 'mcp-login', begunLogin);
  }

  /** Calls the listener with the MCP servers at which another server of the database has another login. */
  onRead(listener: (names: readonly string[]) => void): void {
    this.#document.onRead((before) => {
      const after = this.#document.value;
      const names = Object.keys({ ...before, ...after });
      listener(names.filter((name) => !isSame(ownValue(before, name), ownValue(after, name))));
    });
  }

  /** The login for a connection to a server; undefined if the user has not logged in. */
  of(name: string, url: string): McpLogin | undefined {
    const saved = ownValue(this.#document.value, name);
    if (!saved?.tokens || saved.url !== url) return undefined;
    return this.#provider(name, saved, { stored: () => ownValue(this.#document.value, name) });
  }

  /** A new login, which the user completes on a page. */
  begin(name: string, { url, redirect }: { url: string; redirect: string }): McpLogin {
    const begin = (begun: Login, verifier: string): Promise<string> =>
      this.#begun.put({ name, login: begun, verifier }, name, pendingMs);
    return this.#provider(name, { url, redirect }, { begin });
  }

  /** The login that a callback belongs to; valid once. */
  async take(state: string): Promise<{ name: string; provider: McpLogin }> {
    const begun = await this.#begun.take(state);
    if (!begun)
      throw new AppError(
        'invalid_input',
        'This login was finished already, or took too long: connect again under Settings → MCP servers.',
      );
    const provider = this.#provider(begun.name, begun.login, {});
    provider.saveCodeVerifier(begun.verifier);
    return { name: begun.name, provider };
  }

  async remove(name: string): Promise<void> {
    await this.#begun.clear(name);
    await this.#save(name, undefined);
  }

  #provider(name: string, saved: Login, kept: Pick<LoginStore, 'stored' | 'begin'>): McpLogin {
    return new McpLogin(saved, {
      save: (changed) => this.#save(name, changed),
      renew: (renewal) => this.#renewals.run(name, () => this.#renew(name, renewal)),
      ...kept,
    });
  }

  /** One server at a time, because a token that is renewed twice may be void: the others get what it has stored. */
  async #renew(name: string, { used, work, signal }: Renewal): Promise<void> {
    const renewed = async (): Promise<true> => {
      await this.#document.refresh();
      const { tokens } = ownValue(this.#document.value, name) ?? {};
      if (!tokens || tokens.access_token === used) await work();
      return true;
    };
    const locked = () => whileLocked(this.database, `mcp-login ${name}`, renewed);
    while (!(await this.#places.runExclusive(locked)))
      await delay(lookAgainMs, undefined, { ...(signal && { signal }) });
  }

  #save(name: string, changed: Login | undefined): Promise<void> {
    return this.#document.change((logins) => {
      const { [name]: _, ...others } = logins;
      return changed ? { ...others, [name]: changed } : others;
    });
  }
}

/** Whether it is the same login, though its tokens may have been renewed. */
const isSame = (one: Login | undefined, other: Login | undefined): boolean =>
  one?.url === other?.url && one?.client?.client_id === other?.client?.client_id;

interface LoginStore {
  save(login: Login): Promise<void>;
  renew(renewal: Renewal): Promise<void>;
  /** Without it, the login is not stored yet. */
  stored?(): Login | undefined;
  /** Resolves with the state of a page on which the user logs in. Without it, no user is present to do that. */
  begin?(login: Login, verifier: string): Promise<string>;
}

/** One login, in the form that the SDK uses. */
export class McpLogin implements OAuthClientProvider {
  /** The page on which the user logs in. */
  page: URL | undefined;
  #verifier = '';

  constructor(
    private saved: Login,
    private readonly store: LoginStore,
  ) {}

  get redirectUrl(): string {
    return this.saved.redirect;
  }

  get clientMetadata() {
    return { client_name: 'Belay', redirect_uris: [this.saved.redirect] };
  }

  clientInformation(): Login['client'] {
    return this.saved.client;
  }

  saveClientInformation(client: { client_id: string }): Promise<void> {
    return this.#change({ client: { ...client } });
  }

  /** Another server of the database may have renewed them: then the earlier ones may be void. */
  tokens(): Login['tokens'] {
    const stored = this.store.stored?.();
    return (stored && isSame(stored, this.saved) ? stored : this.saved).tokens;
  }

  /** Does the work unless the tokens were renewed since they were used. */
  renew(renewal: Renewal): Promise<void> {
    return this.store.renew(renewal);
  }

  saveTokens(tokens: { access_token: string; token_type: string }): Promise<void> {
    return this.#change({ tokens: { ...tokens } });
  }

  async redirectToAuthorization(page: URL): Promise<void> {
    const state = await this.store.begin?.(this.saved, this.#verifier);
    if (state === undefined) throw new McpFailure('refused', 'requires a login: connect it again.');
    page.searchParams.set('state', state);
    this.page = page;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  async #change(part: Partial<Login>): Promise<void> {
    this.saved = { ...this.saved, ...part };
    // A login that was begun but not completed is not stored.
    if (this.saved.tokens) await this.store.save(this.saved);
  }
}
