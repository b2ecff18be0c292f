import {
  applyDecorators,
  Controller,
  createParamDecorator,
  HttpCode,
  RequestMapping,
  RequestMethod,
  type ExecutionContext,
} from '@nestjs/common';
import {
  AppError,
  faultOf,
  isSchema,
  type Route,
  type RouteGroup,
  type RouteInput,
  type RouteResult,
} from '@belay/protocol';
import type { Request } from 'express';
import type { z } from 'zod';
import { Serves } from '../auth/serves.js';

/** The first argument of each handler of a group. */
export type RouteInputs<G extends RouteGroup> = { [Name in keyof G]: RouteInput<G[Name]> };

/** One method for each route of a group: a missing one is a compile error. Nest’s decorators add more arguments. */
export type RouteHandlers<G extends RouteGroup> = {
  [Name in keyof G]: (
    input: RouteInput<G[Name]>,
    ...more: never[]
  ) => RouteResult<G[Name]> | Promise<RouteResult<G[Name]>>;
};

type ControllerOf<G extends RouteGroup> = new (...dependencies: never[]) => RouteHandlers<G>;

/**
 * Serves the routes of a group, each by the method with its name: HTTP method, path, status and access come from the
 * route, and the first argument is the parsed input. Throws `invalid_input` for input that cannot be parsed.
 */
export const RestController =
  <G extends RouteGroup>(routes: G) =>
  (target: ControllerOf<G>): void => {
    for (const [name, route] of Object.entries(routes)) {
      const handler = Object.getOwnPropertyDescriptor(target.prototype, name);
      if (!handler) throw new Error(`${target.name} has no method ${name}.`);
      applyDecorators(
        RequestMapping({ path: route.path, method: RequestMethod[route.method] }),
        HttpCode(route.status),
        Serves(route),
      )(target.prototype, name, handler);
      Input(route)(target.prototype, name, 0);
    }
    Controller()(target);
  };

const Input = createParamDecorator((route: Route, context: ExecutionContext) =>
  inputOf(route, context.switchToHttp().getRequest<Request>()),
);

function inputOf(route: Route, request: Request): RouteInput<Route> {
  const read = (schema: z.ZodType | undefined, value: unknown, missing?: string): unknown => {
    if (!schema) return value;
    const { data, error } = schema.safeParse(value);
    if (!error) return data;
    throw new AppError('invalid_input', missing ?? `${faultOf(error)}.`);
  };
  const withoutJson = request.body === undefined ? sendJson : undefined;
  return {
    params: read(route.params, request.params) as RouteInput<Route>['params'],
    query: read(route.query, request.query),
    body: isSchema(route.body) ? read(route.body, request.body, withoutJson) : undefined,
  };
}

const sendJson = 'Send the input as JSON, with the content-type application/json.';
