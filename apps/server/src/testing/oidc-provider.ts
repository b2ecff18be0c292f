import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Grant {
  nonce: string | null;
  challenge: string | null;
  redirect: string | null;
}

/**
 * An OpenID provider on loopback: discovery, keys, codes with PKCE, and id tokens with real
 * signatures.
 */
export class OidcProvider {
  readonly #keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  readonly #strangers = generateKeyPairSync('rsa', { modulusLength: 2048 });
  readonly #grants = new Map<string, Grant>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  issuer = '';
  /** Claims added to the usual ones; these take precedence. */
  claims: Record<string, unknown> = {};
  /** Signs with a key that is not published. */
  forges = false;

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.issuer = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Consents as the user; returns the address to which the provider redirects the browser. */
  agree(address: string): string {
    const asked = new URL(address).searchParams;
    const code = randomBytes(16).toString('hex');
    this.#grants.set(code, {
      nonce: asked.get('nonce'),
      challenge: asked.get('code_challenge'),
      redirect: asked.get('redirect_uri'),
    });
    const back = new URL(asked.get('redirect_uri') ?? '');
    back.search = new URLSearchParams({
      code,
      state: asked.get('state') ?? '',
      iss: this.issuer,
    }).toString();
    return back.href;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (value: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (request.url === '/.well-known/openid-configuration') return send(this.#discovery());
    if (request.url === '/keys') {
      const jwk = this.#keys.publicKey.export({ format: 'jwk' });
      return send({ keys: [{ ...jwk, kid: 'k', alg: 'RS256', use: 'sig' }] });
    }
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const form = new URLSearchParams(body);
    const grant = this.#grants.get(form.get('code') ?? '');
    this.#grants.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isGood = grant?.challenge === challenge && grant.redirect === form.get('redirect_uri');
    if (!isGood) return send({ error: 'invalid_grant' }, 400);
    send({ access_token: 'a', token_type: 'Bearer', id_token: this.#idToken(grant) });
  }

  #discovery() {
    const { issuer } = this;
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    };
  }

  #idToken({ nonce }: Grant): string {
    const now = Math.floor(Date.now() / 1000);
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = {
      iss: this.issuer,
      aud: 'belay',
      sub: 'u1',
      nonce,
      iat: now,
      exp: now + 60,
      ...this.claims,
    };
    const signed = `${part({ alg: 'RS256', kid: 'k' })}.${part(claims)}`;
    const { privateKey } = this.forges ? this.#strangers : this.#keys;
    return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
  }
}
