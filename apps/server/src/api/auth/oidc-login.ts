import { AppError } from '@belay/protocol';
import type { Request, Response } from 'express';
import type { ProvidedUser } from '../../access/users.store.js';
import type { OidcConfig } from '../../config.js';
import { baseUrlOf } from '../base-url.js';
import { ownPath } from './login-form.js';
import { OidcClient, pendingLogin } from './oidc.client.js';
import { SealedValues } from './sealed-values.js';

export const oidcPath = '/login/oidc';
export const oidcReturnPath = '/login/oidc/return';

/** How long a user may take at the provider. */
const pendingMs = 10 * 60_000;
const maxQuery = 16_384;
const cookie = 'belay_oidc';
/** A longer address, in bytes, would not fit into the cookie. */
const maxTo = 1_500;

/**
 * The two steps of a login through the identity provider, bound to one browser by a cookie. The cookie carries what the
 * second step needs, so that strangers who begin logins displace nobody’s. The provider takes each code only once.
 */
export class OidcLogin {
  readonly #client: OidcClient;
  readonly #pending = new SealedValues(pendingLogin, pendingMs);

  constructor(
    config: OidcConfig,
    private readonly publicUrl: string | undefined,
  ) {
    this.#client = new OidcClient(config);
  }

  async begin(request: Request, response: Response): Promise<void> {
    const asked = ownPath.parse(request.query['to']);
    const to = Buffer.byteLength(asked) <= maxTo ? asked : '/';
    const { address, pending } = await this.#client.begin(this.#redirect(request), to);
    response.cookie(cookie, this.#pending.seal(pending), {
      ...this.#cookieOptions(request),
      maxAge: pendingMs,
    });
    response.redirect(302, address);
  }

  /** The user sent back by the provider, and the page that was requested. */
  async finish(request: Request, response: Response): Promise<{ user: ProvidedUser; to: string }> {
    const sealed = new RegExp(`(?:^|; ?)${cookie}=([\\w-]{1,4096})(?:;|$)`).exec(
      request.headers.cookie ?? '',
    )?.[1];
    const pending = this.#pending.open(sealed ?? '');
    response.clearCookie(cookie, this.#cookieOptions(request));
    const query = request.url.slice(request.path.length);
    if (!pending || query.length > maxQuery) throw lost();
    return { user: await this.#client.finish(query, pending), to: pending.to };
  }

  #redirect(request: Request): string {
    return (this.publicUrl ?? baseUrlOf(request)) + oidcReturnPath;
  }

  /** The user comes back from the provider’s page; the browser would not send a `strict` cookie then. */
  #cookieOptions(request: Request) {
    return { httpOnly: true, sameSite: 'lax', path: oidcPath, secure: request.secure } as const;
  }
}

const lost = (): AppError =>
  new AppError(
    'unauthorized',
    'This login has expired, or was started in another browser. Log in again.',
  );
