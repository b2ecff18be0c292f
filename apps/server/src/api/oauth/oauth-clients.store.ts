import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError, type clientRegistration } from '@belay/protocol';
import { z } from 'zod';
import { TokensStore } from '../../access/tokens.store.js';
import type { Document } from '../../storage/document.js';
import { Documents } from '../../storage/documents.js';

const saved = z.object({
  id: z.string(),
  name: z.string(),
  redirects: z.array(z.string()),
});
export type OAuthClient = z.infer<typeof saved>;

/** At this limit, a new registration removes the oldest that nobody has allowed. */
const maxClients = 300;

/** Registered applications. Anyone may register; a registration gives no access. */
@Injectable()
export class OAuthClients {
  readonly #document: Document<z.ZodArray<typeof saved>>;

  constructor(
    documents: Documents,
    private readonly tokens: TokensStore,
  ) {
    this.#document = documents.open('oauth-clients', z.array(saved), []);
  }

  find(id: string): OAuthClient | undefined {
    return this.#document.value.find((client) => client.id === id);
  }

  async register(wanted: z.output<typeof clientRegistration>): Promise<OAuthClient> {
    for (const redirect of wanted.redirect_uris) refuseUnsafe(redirect);
    const client = {
      id: randomBytes(16).toString('base64url'),
      name: wanted.client_name?.trim() || 'An application',
      redirects: wanted.redirect_uris,
    };
    await this.#document.change((clients) => [...this.#withSpace(clients), client]);
    return client;
  }

  /** Throws `limit_reached` when every application has tokens. */
  #withSpace(clients: readonly OAuthClient[]): readonly OAuthClient[] {
    if (clients.length < maxClients) return clients;
    const used = this.tokens.applications();
    const unused = clients.find(({ id }) => !used.has(id));
    if (!unused)
      throw new AppError(
        'limit_reached',
        `${maxClients} applications have access. Revoke the tokens of some first: belay tokens`,
      );
    return clients.filter((client) => client !== unused);
  }
}

/** Whether a client may use this redirect address. A loopback address may have any port (RFC 8252). */
export function isRedirectOf({ redirects }: OAuthClient, redirect: string): boolean {
  if (redirects.includes(redirect)) return true;
  const withoutPort = portless(redirect);
  return withoutPort !== undefined && redirects.some((one) => portless(one) === withoutPort);
}

function portless(address: string): string | undefined {
  const url = URL.parse(address);
  if (url?.protocol !== 'http:' || !loopback.has(url.hostname)) return undefined;
  url.port = '';
  return url.href;
}

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** Schemes that a browser would execute or display itself. */
const browserSchemes =
  /^(javascript|data|blob|file|vbscript|about|view-source|filesystem|ftp|wss?|chrome.*|moz-.*):$/;

function refuseUnsafe(redirect: string): void {
  const url = URL.parse(redirect);
  const isSafe =
    url !== null &&
    url.hash === '' &&
    url.username === '' &&
    (url.protocol === 'https:' ||
      (url.protocol === 'http:'
        ? loopback.has(url.hostname)
        : !browserSchemes.test(url.protocol) && redirect.startsWith(`${url.protocol}//`)));
  if (isSafe) return;
  throw new AppError(
    'invalid_input',
    'A redirect_uri must use https, http on this machine, or the application’s own scheme.',
  );
}
