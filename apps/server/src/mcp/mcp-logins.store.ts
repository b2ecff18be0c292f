import { Injectable } from '@nestjs/common';
import { AppError, ownValue } from '@belay/protocol';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { z } from 'zod';
import { OneTimeValues } from '../storage/one-time-values.js';
import type { Document } from '../storage/document.js';
import { Documents } from '../storage/documents.js';
import { randomSecret } from '../storage/secrets.js';
import { McpFailure } from './mcp-failure.js';

const login = z.object({
  /** The MCP server’s address; another address needs another login. */
  url: z.string(),
  redirect: z.string(),
  client: z.looseObject({ client_id: z.string() }).optional(),
  tokens: z.looseObject({ access_token: z.string(), token_type: z.string() }).optional(),
});
type Login = z.infer<typeof login>;

/** How long the user may take on the other server’s page. */
const pendingMs = 10 * 60_000;

/** The logins at remote MCP servers (OAuth). */
@Injectable()
export class McpLogins {
  readonly #document: Document<z.ZodRecord<z.ZodString, typeof login>>;
  readonly #pending = new OneTimeValues<{ name: string; provider: McpLogin }>(pendingMs);

  constructor(documents: Documents) {
    this.#document = documents.open('mcp-logins', z.record(z.string(), login), {});
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
    return saved?.tokens && saved.url === url ? this.#provider(name, saved) : undefined;
  }

  /** A new login, which the user completes on a page. */
  begin(name: string, { url, redirect }: { url: string; redirect: string }): McpLogin {
    const secret = randomSecret();
    const provider = this.#provider(name, { url, redirect }, secret);
    this.#pending.put({ name, provider }, name, { secret });
    return provider;
  }

  /** The login that a callback belongs to; valid once. */
  take(state: string): { name: string; provider: McpLogin } {
    const pending = this.#pending.take(state);
    if (pending) return pending;
    throw new AppError(
      'invalid_input',
      'This login was finished already, took too long, or was begun before the server restarted or another one took over: connect again under Settings → MCP servers.',
    );
  }

  remove(name: string): Promise<void> {
    return this.#save(name, undefined);
  }

  #provider(name: string, saved: Login, state?: string): McpLogin {
    const save = (changed: Login): Promise<void> => this.#save(name, changed);
    return new McpLogin(saved, { save, stored: () => ownValue(this.#document.value, name) }, state);
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

interface LoginDocument {
  save(login: Login): Promise<void>;
  stored(): Login | undefined;
}

/** One login, in the form that the SDK uses. Without a `state`, no user is present to log in, so it fails. */
export class McpLogin implements OAuthClientProvider {
  /** The page on which the user logs in. */
  page: URL | undefined;
  #verifier = '';

  constructor(
    private saved: Login,
    private readonly document: LoginDocument,
    private readonly key?: string,
  ) {}

  get redirectUrl(): string {
    return this.saved.redirect;
  }

  get clientMetadata() {
    return { client_name: 'Belay', redirect_uris: [this.saved.redirect] };
  }

  state(): string {
    return this.key ?? '';
  }

  clientInformation(): Login['client'] {
    return this.saved.client;
  }

  saveClientInformation(client: { client_id: string }): Promise<void> {
    return this.#change({ client: { ...client } });
  }

  /** Another server of the database may have renewed them: then the earlier ones may be void. */
  tokens(): Login['tokens'] {
    const stored = this.key === undefined ? this.document.stored() : undefined;
    return (stored && isSame(stored, this.saved) ? stored : this.saved).tokens;
  }

  saveTokens(tokens: { access_token: string; token_type: string }): Promise<void> {
    return this.#change({ tokens: { ...tokens } });
  }

  redirectToAuthorization(page: URL): void {
    if (this.key === undefined)
      throw new McpFailure('refused', 'requires a login: connect it again.');
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
    if (this.saved.tokens) await this.document.save(this.saved);
  }
}
