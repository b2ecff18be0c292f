import { Req } from '@nestjs/common';
import {
  idsOf,
  isSchema,
  ownValue,
  sessionCommands,
  type Route,
  type RouteGroup,
} from '@belay/protocol';
import type { Request } from 'express';
import { callerOf, noteMade } from '../auth/access.guard.js';
import type { SessionCommands } from '../commands/session-commands.js';
import { idToCreate } from './idempotency.interceptor.js';
import { RestController, type RouteHandlers } from './rest-controller.js';

/** The routes of a group that run no command; a controller handles these with methods of its own. */
type PlainRoutes<G extends RouteGroup> = {
  [Name in keyof G as G[Name] extends { command: string } ? never : Name]: G[Name];
};

type Serves<G extends RouteGroup> = new (
  ...dependencies: never[]
) => RouteHandlers<PlainRoutes<G>> & { readonly commands: SessionCommands };

/**
 * A `RestController` with generated methods for the routes of session commands; input, output and status follow from
 * both definitions.
 */
export const CommandController =
  <G extends RouteGroup>(routes: G) =>
  (target: Serves<G>): void => {
    for (const [name, route] of Object.entries<Route>(routes)) {
      if (!route.command) continue;
      const value = commandHandler(route, route.command);
      Object.defineProperty(target.prototype, name, { value, writable: true, configurable: true });
      Req()(target.prototype as object, name, 1);
    }
    RestController(routes)(target as never);
  };

type Input = { params: Record<string, unknown>; body: object | undefined };

function commandHandler({ path, response }: Route, name: NonNullable<Route['command']>) {
  const parameters = [...path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => parameter);
  const ids = idsOf(sessionCommands[name]);
  return async function (
    this: { commands: SessionCommands },
    { params, body }: Input,
    request: Request,
  ): Promise<unknown> {
    const about = ids.map((id, at) => [id, ownValue(params, parameters[at] ?? '')]);
    const input = { ...body, ...Object.fromEntries(about) } as never;
    const caller = callerOf(request);
    const id = idToCreate(request);
    const output = await this.commands.run(name, input, {
      caller,
      ...(id !== undefined && { id }),
      made: (what) => noteMade(what, request),
    });
    return isSchema(response) ? output : undefined;
  };
}
