import { existsSync } from 'node:fs';
import { dashboardPath, AppError } from '@belay/protocol';
import type { NextFunction, Request, Response } from 'express';
import type { Config } from '../config.js';
import { unauthorized } from './access.guard.js';
import type { AddressCheck } from './address-check.js';
import type { Identity } from './identity.js';
import { lockedPage } from './locked-page.js';
import { problemOf, problemType } from './problem.js';
import { Site } from './site.js';

const policy = [
  "default-src 'self'",
  "script-src 'self'",
  "worker-src 'self' blob:",
  "img-src 'self' data: blob:",
  // Monaco and xterm write style elements.
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Paths that a route answers; everything else is the site. */
const routes = new RegExp(`^(/api|/health|/metrics|${dashboardPath})(/|$)`);

type Middleware = (request: Request, response: Response, next: NextFunction) => void;

export interface FrontParts {
  config: Config;
  identity: Identity;
  addresses: AddressCheck;
}

/** What every request passes before a route: headers, Host and Origin, the token in an address, and the site. */
export function front({ config, identity, addresses }: FrontParts): Middleware {
  const site = config.site && existsSync(config.site) ? new Site(config.site) : undefined;
  return (request, response, next) => {
    secure(response);
    const fault = addresses.fault(request.headers);
    if (fault) return refuse(response, new AppError('forbidden', fault));
    if (takeToken(identity, request, response)) return;
    if (routes.test(request.path)) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    if (!identity.role(request.headers)) return locked(request, response);
    const accepts = request.headers['accept-encoding'];
    const sent = site?.send(request.path, String(accepts ?? ''), response);
    if (!sent) next();
  };
}

function secure(response: Response): void {
  response.set({
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    'cache-control': 'no-store',
  });
}

/** `?token=` becomes a cookie and leaves the address, where histories and logs would keep it. */
function takeToken(identity: Identity, request: Request, response: Response): boolean {
  const token = request.query['token'];
  if (request.method !== 'GET' || routes.test(request.path) || typeof token !== 'string')
    return false;
  if (!identity.roleOfToken(token)) {
    response.status(401).type('html').send(lockedPage(true));
    return true;
  }
  const rest = new URLSearchParams(request.url.split('?')[1]);
  rest.delete('token');
  response.cookie(identity.cookie, token, {
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure: request.secure,
    maxAge: 365 * 24 * 3600 * 1000,
  });
  const query = rest.toString();
  // A path that begins with two slashes would lead to another host.
  response.redirect(302, request.path.replace(/^\/+/, '/') + (query && `?${query}`));
  return true;
}

function locked(request: Request, response: Response): void {
  if (request.accepts(['html', 'json']) === 'html')
    response.status(401).type('html').send(lockedPage(false));
  else refuse(response, unauthorized());
}

function refuse(response: Response, error: AppError): void {
  const problem = problemOf(error);
  response.status(problem.status).type(problemType).send(JSON.stringify(problem));
}
