import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  AppError,
  isGptRoute,
  routeName,
  sessionParameter,
  type ApiName,
  type Route,
} from '@belay/protocol';
import type { Request, Response } from 'express';
import { AuditLog, type AuditedAction } from '../../access/audit-log.js';
import { assertMay, assertReaches, type Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import { introducedCaller } from '../../peers/introduced-caller.js';
import { ColdChanges } from '../../storage/cold-changes.js';
import { routeKey } from './serves.js';
import { Identity } from './identity.js';

/** A route’s definition in the protocol contains who may call it, what it is about, and which of its parameters is a session. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly identity: Identity,
    private readonly ends: CallerEnds,
    private readonly audit: AuditLog,
    private readonly reflector: Reflector,
    private readonly changes: ColdChanges,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const route = this.reflector.get<Route | undefined>(routeKey, context.getHandler());
    if (route?.access === 'open') return true;
    this.changes.requireCurrent();
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const known = this.identity.caller(request);
    const parameter = route && sessionParameter(route);
    const session = parameter && (request.params as Record<string, string>)[parameter];
    const via = { api: apiOf(request, route, known), address: request.socket.remoteAddress };
    const record = (outcome: string, more: AuditedSession = {}): void =>
      this.audit.record({
        ...whatOf(request, route),
        ...via,
        caller: known,
        session,
        outcome,
        ...more,
      });
    try {
      // A handler without a route in the contract needs the scope admin.
      assertMay(known, route?.access ?? 'admin', session);
      assertReaches(known, route?.about ?? 'server');
    } catch (error) {
      if (error instanceof AppError) record(error.code);
      throw error;
    }
    const response = http.getResponse<Response>();
    if (!route?.unaudited)
      response.once('close', () => record(outcomeOf(response), about.get(request)));
    const caller = { ...known, via };
    callers.set(request, caller);
    this.#endWith(caller, response, route);
    return true;
  }

  /** Streams and long requests end when their caller does, but for the request that ends its own access. */
  #endWith(caller: Caller, response: Response, route: Route | undefined): void {
    if (route?.endsAccess) return;
    const off = this.ends.on(caller, () => void response.destroy());
    response.once('close', off);
  }
}

/** Another server tells it with the caller; ChatGPT is recognized by the route, the dashboard by its login, and the command line by its own header. */
export function apiOf(
  { headers, socket }: Request,
  route: Route | undefined,
  caller: Caller | undefined,
): ApiName {
  const introduced = introducedCaller(socket);
  if (introduced) return introduced.api;
  if (route && isGptRoute(route)) return 'gpt';
  if (caller?.login !== undefined) return 'dashboard';
  return headers['user-agent']?.startsWith('belay-cli') ? 'cli' : 'rest';
}

function whatOf(
  request: Request,
  route: Route | undefined,
): Pick<AuditedAction, 'action' | 'subject'> {
  const { method, path, params, body } = request as Request & { body?: Record<string, unknown> };
  if (!route) return { action: `${method} ${path}` };
  const of = sessionParameter(route);
  const names = Object.entries(params).filter(([name]) => name !== of);
  const made = route.nameField === undefined ? undefined : body?.[route.nameField];
  const subject = [...names.map(([, value]) => value), typeof made === 'string' ? made : []];
  return { action: routeName(route), subject: subject.flat().join(' ') };
}

/** The code that the problem filter recorded, or a code for a connection that was closed early. */
function outcomeOf({ locals, statusCode, writableFinished }: Response): string {
  const { code } = locals as { code?: string };
  if (code !== undefined) return code;
  if (!writableFinished) return 'cancelled';
  return statusCode < 400 ? 'ok' : `${statusCode}`;
}

type AuditedSession = Pick<AuditedAction, 'session' | 'subject'>;

const about = new WeakMap<Request, AuditedSession>();

/** Notes what a request created, for its entry in the audit log. */
export function noteMade(what: AuditedSession, request: Request): void {
  about.set(request, what);
}

const callers = new WeakMap<Request, Caller>();

/** The caller of a request that the guard admitted. */
export function callerOf(request: Request): Caller {
  const caller = callers.get(request);
  assertMay(caller, 'view');
  return caller;
}
