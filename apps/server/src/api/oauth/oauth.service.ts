import { Injectable } from '@nestjs/common';
import { AppError, tokenInfo, type AuthorizationRequest, type NewToken } from '@belay/protocol';
import { z } from 'zod';
import type { RefreshableToken } from '../../access/refresh-token.js';
import { TokensStore } from '../../access/tokens.store.js';
import { ExpiringValues } from '../../storage/expiring-values.js';
import { OneTimeCodes } from '../../storage/one-time-codes.js';
import { hashOfSecret } from '../../storage/secrets.js';
import { isRedirectOf, OAuthClients, type OAuthClient } from './oauth-clients.store.js';

const codeMs = 60_000;
/** The lifetime of a token; the application renews it without the user. */
const tokenMs = 24 * 3_600_000;
/** How long an application may be idle before the user is asked again. */
const refreshMs = 30 * 24 * 3_600_000;

const grant = z.object({
  client: z.string(),
  redirect: z.string(),
  challenge: z.string(),
  resource: z.string().optional(),
  token: tokenInfo.pick({ label: true, scope: true, sessions: true }),
  /** The id of the caller who allowed it. */
  maker: z.string(),
});

export interface CodeExchange {
  code: string;
  client: string;
  redirect: string;
  verifier: string;
  resource: string | undefined;
}

/** Authorization codes with PKCE: each stands for what the user allowed to one application. */
@Injectable()
export class OAuthService {
  readonly #granted;

  constructor(
    private readonly clients: OAuthClients,
    private readonly tokens: TokensStore,
    values: ExpiringValues,
  ) {
    this.#granted = new OneTimeCodes(values, 'oauth-code', grant);
  }

  /**
   * The requesting application. Throws when it is unknown or its redirect address does not match; nothing is sent
   * there then.
   */
  clientOf({ client_id: id, redirect_uri: redirect }: AuthorizationRequest): OAuthClient {
    const client = this.clients.find(id);
    if (!client) throw new AppError('invalid_input', 'This application is not registered here.');
    if (isRedirectOf(client, redirect)) return client;
    throw new AppError('invalid_input', 'The redirect_uri is not registered for this application.');
  }

  /** Returns the browser’s next address, with the code. */
  async allow(
    request: AuthorizationRequest,
    { scope, sessions, maker }: Pick<NewToken, 'scope' | 'sessions'> & { maker: string },
  ): Promise<string> {
    const client = this.clientOf(request);
    const allowed = {
      client: client.id,
      redirect: request.redirect_uri,
      challenge: request.code_challenge,
      resource: request.resource,
      token: { label: `${client.name} (OAuth)`, scope, sessions },
      maker,
    };
    const code = await this.#granted.put(allowed, maker, codeMs);
    return answerTo(request, { code });
  }

  reject(request: AuthorizationRequest): string {
    this.clientOf(request);
    return answerTo(request, { error: 'access_denied' });
  }

  /** A code is valid once: an attempt with a wrong parameter uses it up. Undefined for an invalid code. */
  async exchange(given: CodeExchange): Promise<RefreshableToken | undefined> {
    const granted = await this.#granted.take(given.code);
    const isSame =
      granted !== undefined &&
      granted.client === given.client &&
      granted.redirect === given.redirect &&
      granted.challenge === hashOfSecret(given.verifier) &&
      (given.resource === undefined || granted.resource === given.resource);
    // Its maker may have lost rights since then.
    if (!isSame || !this.tokens.mayMake(granted.maker)) return undefined;
    const wanted = { ...granted.token, expires: end() };
    const { client, maker } = granted;
    return this.tokens.createRefreshable(wanted, { client, refreshMs, maker });
  }

  /** Undefined for an invalid refresh token. The reuse of an old one revokes all tokens of its family. */
  renew(refresh: string, client: string): Promise<RefreshableToken | undefined> {
    return this.tokens.refresh(refresh, { client, refreshMs, expires: end() });
  }

  /** The token itself is enough to revoke it. */
  async revoke(token: string): Promise<void> {
    const id = this.tokens.idOf(token);
    if (id !== undefined) await this.tokens.revoke(id);
  }
}

const end = (): string => new Date(Date.now() + tokenMs).toISOString();

function answerTo(
  { redirect_uri: redirect, state }: AuthorizationRequest,
  answer: Record<string, string>,
): string {
  const url = new URL(redirect);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== undefined) url.searchParams.set('state', state);
  return url.href;
}
