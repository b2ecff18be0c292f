import { AppError, scope, type Scope } from '@belay/protocol';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type Configuration,
} from 'openid-client';
import { z } from 'zod';
import type { ProvidedUser } from '../../access/users.store.js';
import type { OidcConfig } from '../../config.js';

const timeoutSeconds = 10;

/** What the browser keeps of a login, sealed, while the user is at the provider. */
export const pendingLogin = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirect: z.string(),
  /** The page that was requested. */
  to: z.string(),
});
type PendingLogin = z.infer<typeof pendingLogin>;

/** The identity provider of a team, by OpenID Connect: authorization code with PKCE, state and nonce. */
export class OidcClient {
  #configuration: Promise<Configuration> | undefined;

  constructor(private readonly config: OidcConfig) {}

  /** The provider’s address for the browser. Throws `unavailable`. */
  async begin(redirect: string, to: string): Promise<{ address: string; pending: PendingLogin }> {
    const verifier = randomPKCECodeVerifier();
    const pending = { state: randomState(), nonce: randomNonce(), verifier, redirect, to };
    const address = buildAuthorizationUrl(await this.#discovered(), {
      redirect_uri: redirect,
      scope: this.config.scopes,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state: pending.state,
      nonce: pending.nonce,
    });
    return { address: address.href, pending };
  }

  /** The user that the provider’s query identifies. Throws `unauthorized`. */
  async finish(query: string, { redirect, ...expected }: PendingLogin): Promise<ProvidedUser> {
    const configuration = await this.#discovered();
    const tokens = await authorizationCodeGrant(configuration, new URL(redirect + query), {
      pkceCodeVerifier: expected.verifier,
      expectedState: expected.state,
      expectedNonce: expected.nonce,
      idTokenExpected: true,
    }).catch((error: unknown) => {
      throw refusedBy(error);
    });
    const claims = claimsOf.safeParse(tokens.claims());
    if (!claims.success) throw refusedBy(claims.error);
    return {
      subject: `${claims.data.iss} ${claims.data.sub}`,
      name: nameOf(claims.data),
      scope: scopeOf(claims.data, this.config),
    };
  }

  #discovered(): Promise<Configuration> {
    return (this.#configuration ??= this.#discover());
  }

  async #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.config;
    const isLoopback = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/.test(issuer);
    try {
      return await discovery(new URL(issuer), clientId, clientSecret, undefined, {
        timeout: timeoutSeconds,
        // Signatures are checked even for data directly from the provider. Only a provider on this machine may lack
        // TLS.
        execute: [enableNonRepudiationChecks, ...(isLoopback ? [allowInsecureRequests] : [])],
      });
    } catch {
      this.#configuration = undefined;
      throw new AppError(
        'unavailable',
        'The identity provider cannot be reached. Try again in a moment, or check BELAY_OIDC_ISSUER.',
      );
    }
  }
}

const text = z.string().max(500);
/** The used claims of an id token, whose signature, issuer, audience and nonce are already checked. */
const claimsOf = z.object({
  iss: text,
  sub: text.min(1),
  email: text.optional(),
  email_verified: z.boolean().optional(),
  preferred_username: text.optional(),
  /** Null if they cannot be read. */
  groups: z.array(z.string()).max(5_000).default([]).nullable().catch(null),
  /** Has `groups` if the provider leaves them out because they are too many. */
  _claim_names: z.looseObject({ groups: z.unknown() }).optional().catch(undefined),
});
type Claims = z.output<typeof claimsOf>;

/**
 * The widest scope granted to one of the user’s groups, to its verified mail address, or to that address’s domain. Throws
 * `unauthorized` for groups that cannot be read: without them, the user would lose its rights, or its account.
 */
function scopeOf(
  { email, email_verified, groups, _claim_names: elsewhere }: Claims,
  config: OidcConfig,
): Scope | undefined {
  const isByGroup = Object.values(config.roles)
    .flat()
    .some((name) => name.startsWith(groupPrefix));
  if ((!groups || elsewhere?.groups !== undefined) && isByGroup) throw noGroups();
  const mail = email_verified === true ? email?.toLowerCase() : undefined;
  const names = new Set(groups?.map((group) => groupPrefix + group));
  if (mail !== undefined) names.add(mail).add(mail.slice(mail.lastIndexOf('@')));
  return scope.options
    .toReversed()
    .find((each) => config.roles[each].some((name) => names.has(name)));
}

const groupPrefix = 'group:';

const noGroups = (): AppError =>
  new AppError(
    'unauthorized',
    'The identity provider did not send your groups as a list of at most 5,000 names. Ask its administrator for a claim `groups` with only those that Belay needs.',
  );

/** The displayed name, which has no effect on the user’s rights. */
function nameOf({ email, preferred_username, sub }: Claims): string {
  const name = email ?? preferred_username ?? sub;
  return name
    .toLowerCase()
    .replaceAll(/[^\w.+@-]/g, '-')
    .slice(0, 100);
}

function refusedBy(error: unknown): AppError {
  const isNetwork = error instanceof Error && ['TypeError', 'TimeoutError'].includes(error.name);
  return isNetwork
    ? new AppError('unavailable', 'The identity provider cannot be reached. Try again in a moment.')
    : new AppError('unauthorized', 'The identity provider did not log you in. Try again.');
}
