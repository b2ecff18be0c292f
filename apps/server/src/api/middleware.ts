import { existsSync } from 'node:fs';
import { allRoutes, dashboardPath, AppError, problemOf, problemType } from '@belay/protocol';
import type { NextFunction, Request, Response } from 'express';
import { unauthorized } from '../access/caller.js';
import { isPassedOn } from '../peers/introduced-caller.js';
import { lease } from '../storage/lease.js';
import type { AddressCheck } from './auth/address-check.js';
import { LoginPages, type LoginOptions } from './auth/login.js';
import { takeBasicAuth } from './gpt/basic-auth.js';
import { sendDocs } from './send-docs.js';
import type { PreviewAddress } from './preview/preview-address.js';
import { RequestRates } from './limits/request-rates.js';
import { Site } from './site.js';

const policy = [
  "default-src 'self'",
  "script-src 'self'",
  "worker-src 'self' blob:",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  // Monaco and xterm write style elements.
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Paths of routes; all others belong to the site. */
const routes = new RegExp(`^(${[...firstParts(), dashboardPath].join('|')})(/|$)`);

type Middleware = (request: Request, response: Response, next: NextFunction) => void;

export interface MiddlewareOptions extends LoginOptions {
  addresses: AddressCheck;
  /** Tells which origins the dashboard may frame. */
  frames: PreviewAddress;
}

/** Runs before each route: sets security headers, checks Host and Origin, and handles logins and the site. */
export function middleware({ addresses, frames, ...options }: MiddlewareOptions): Middleware {
  const { config, identity } = options;
  const login = new LoginPages(options);
  const rates = new RequestRates(config.requestsPerSecond);
  const site = config.site && existsSync(config.site) ? new Site(config.site) : undefined;
  return (request, response, next) => {
    secure(response, frames.frameSources(request.headers.host));
    const fault = addresses.fault(request);
    if (fault) return refuse(response, new AppError('forbidden', fault));
    if (routes.test(request.path)) {
      lease.assertHeld();
      takeBasicAuth(request.path, request.headers);
      // Another server has counted what it passes on.
      if (!isPassedOn(request.socket)) rates.count(identity.caller(request), request);
      return next();
    }
    if (login.take(request, response)) return;
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    if (!identity.caller(request) && !identity.hasLogin(request.headers)) {
      if (request.accepts(['html', 'json']) === 'html') return login.locked(request, response);
      return refuse(response, unauthorized());
    }
    if (sendDocs(request.path, response)) return;
    const accepts = request.headers['accept-encoding'];
    const sent = site?.send(request.path, String(accepts ?? ''), response);
    if (!sent) next();
  };
}

function secure(response: Response, frames: string): void {
  response.set({
    'content-security-policy': `${policy}; frame-src ${frames}`,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    'cache-control': 'no-store',
  });
}

function refuse(response: Response, error: AppError): void {
  const problem = problemOf(error);
  response.status(problem.status).type(problemType).send(JSON.stringify(problem));
}

/** `/api`, `/health` and the like, as patterns. */
function firstParts(): Set<string> {
  return new Set(allRoutes.map(({ path }) => `/${path.split('/')[1]?.replaceAll('.', '\\.')}`));
}
