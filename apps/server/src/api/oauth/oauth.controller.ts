import { Req, Res } from '@nestjs/common';
import {
  api,
  AppError,
  authorizationRequest,
  faultOf,
  mcpPath,
  oauthRoutes,
  problemOf,
} from '@belay/protocol';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { assertWithinOwnTime } from '../../access/assert-within-own-time.js';
import { callerOf } from '../auth/access.guard.js';
import { LoginAttempts } from '../auth/login-attempts.js';
import { readForm } from '../read-form.js';
import { RestController, type RouteInputs } from '../rest/rest-controller.js';
import { baseUrlOf } from '../base-url.js';
import { consentPage, consentScript, messagePage } from './consent-page.js';
import { OAuthClients } from './oauth-clients.store.js';
import { OAuthService } from './oauth.service.js';

type Inputs = RouteInputs<typeof api.oauth>;

const maxForm = 16 * 1024;
const text = z.string().min(1).max(2_000);
const refreshForm = z.object({
  grant_type: z.literal('refresh_token'),
  refresh_token: text,
  client_id: text,
  resource: text.optional(),
});
const codeForm = z.object({
  grant_type: z.literal('authorization_code'),
  code: text,
  client_id: text,
  redirect_uri: text,
  code_verifier: z.string().regex(/^[\w.~-]{43,128}$/),
  resource: text.optional(),
});

/** OAuth for MCP clients, as the MCP specification requires over HTTP. */
@RestController(oauthRoutes)
export class OAuthController {
  readonly #registrations = new LoginAttempts();

  constructor(
    private readonly clients: OAuthClients,
    private readonly grants: OAuthService,
  ) {}

  resource(_: unknown, @Req() request: Request): Record<string, unknown> {
    const base = baseUrlOf(request);
    return {
      resource: base + mcpPath,
      authorization_servers: [base],
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
      resource_name: 'Belay',
    };
  }

  resourceOfMcp(_: unknown, @Req() request: Request): Record<string, unknown> {
    return this.resource(_, request);
  }

  server(_: unknown, @Req() request: Request): Record<string, unknown> {
    const base = baseUrlOf(request);
    return {
      issuer: base,
      authorization_endpoint: `${base}/oauth/authorize`,
      token_endpoint: `${base}/oauth/token`,
      registration_endpoint: `${base}/oauth/register`,
      revocation_endpoint: `${base}/oauth/revoke`,
      response_types_supported: ['code'],
      grant_types_supported: grantTypes,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      scopes_supported: scopes,
    };
  }

  async register(
    { body }: Inputs['register'],
    @Req() request: Request,
  ): Promise<Record<string, unknown>> {
    this.#countRegistration(request);
    const { id, name, redirects } = await this.clients.register(body);
    return {
      client_id: id,
      client_name: name,
      redirect_uris: redirects,
      grant_types: grantTypes,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  authorize(_: unknown, @Req() request: Request, @Res() response: Response): void {
    try {
      const { data, error } = authorizationRequest.safeParse(request.query);
      if (error)
        throw new AppError('invalid_input', `The request cannot be read: ${faultOf(error)}.`);
      this.#assertOurs(request, data.resource);
      response.type('html').send(consentPage(this.grants.clientOf(data), data));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      response.status(problemOf(error).status).type('html').send(messagePage(error.message));
    }
  }

  script(_: unknown, @Res() response: Response): void {
    response.type('text/javascript').send(consentScript);
  }

  async allow(
    { body: { allow, grant, sessions, ...wanted } }: Inputs['allow'],
    @Req() request: Request,
  ): Promise<{ redirect: string }> {
    this.#assertOurs(request, wanted.resource);
    const user = callerOf(request);
    // The application renews its token by itself.
    if (allow) assertWithinOwnTime(user, null);
    const redirect = allow
      ? await this.grants.allow(wanted, { scope: grant, sessions, maker: user.id })
      : this.grants.reject(wanted);
    return { redirect };
  }

  async token(
    _: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Record<string, unknown>> {
    // Codes and tokens cannot be guessed, so that a wrong one costs nobody anything.
    const { data, error } = tokenForm.safeParse(await readForm(request, maxForm));
    if (error) return refused(response, 'invalid_request', `${faultOf(error)}.`);
    const made =
      data.grant_type === 'refresh_token'
        ? await this.grants.renew(data.refresh_token, data.client_id)
        : await this.grants.exchange({
            code: data.code,
            client: data.client_id,
            redirect: data.redirect_uri,
            verifier: data.code_verifier,
            resource: data.resource,
          });
    if (!made)
      return refused(
        response,
        'invalid_grant',
        'The code or token is no longer valid. Ask the user again.',
      );
    const seconds = Math.floor((Date.parse(made.expires ?? '') - Date.now()) / 1_000);
    return {
      access_token: made.token,
      token_type: 'Bearer',
      expires_in: seconds,
      refresh_token: made.refresh,
      scope: made.scope,
    };
  }

  /** Also succeeds for an unknown token, as the standard requires. */
  async revoke(
    _: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Record<string, unknown>> {
    const { data, error } = revocation.safeParse(await readForm(request, maxForm));
    if (error) return refused(response, 'invalid_request', `${faultOf(error)}.`);
    await this.grants.revoke(data.token);
    return {};
  }

  /** Everyone may register, but the rate is limited so that nobody can displace the others. */
  #countRegistration(request: Request): void {
    const from = request.socket.remoteAddress ?? '';
    if (this.#registrations.areTooMany(from)) throw tooMany();
    this.#registrations.failed(from);
  }

  #assertOurs(request: Request, resource: string | undefined): void {
    const own = baseUrlOf(request) + mcpPath;
    if (resource === undefined || resource.replace(/\/$/, '') === own) return;
    throw new AppError('invalid_input', `This server issues tokens only for ${own}.`);
  }
}

const scopes = ['operate', 'view'];
const revocation = z.object({ token: text });
const grantTypes = ['authorization_code', 'refresh_token'];
const tokenForm = z.discriminatedUnion('grant_type', [codeForm, refreshForm]);

const tooMany = (): AppError => new AppError('limit_reached', 'Too many attempts. Wait a minute.');

/** Errors of the token and revocation endpoints have their own format (RFC 6749). */
function refused(response: Response, error: string, description: string): Record<string, unknown> {
  response.status(400);
  return { error, error_description: description };
}
