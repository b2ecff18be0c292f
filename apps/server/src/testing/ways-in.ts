import {
  allRoutes,
  sessionParameter,
  type Access,
  type Route,
  type RouteSubject,
} from '@belay/protocol';
import type { TestServer } from './server.js';

/** Routes that Express has and the contract does not: what each needs. A new one has to be added here. */
const beyondTheContract: Record<string, { access: Access; about: RouteSubject }> = {};

/** A route of the running server. */
export interface WayIn {
  method: string;
  path: string;
  access: Access;
  about: RouteSubject;
  /** The name of its parameter with a session. */
  session: string | undefined;
}

/** Every route that the running server has, as Express knows it. */
export function waysInto(server: TestServer): WayIn[] {
  const { router } = server.app.getHttpAdapter().getInstance() as {
    router: { stack: { route?: { path: string; methods: Record<string, boolean> } }[] };
  };
  return router.stack.flatMap(({ route }) =>
    Object.keys(route?.methods ?? {}).map((name) => wayOf(name.toUpperCase(), route?.path ?? '')),
  );
}

export function wayOf(method: string, path: string): WayIn {
  const known: Route | undefined = allRoutes.find(
    (route) => route.method === method && route.path === path,
  );
  const needs = known ?? beyondTheContract[`${method} ${path}`];
  if (!needs) throw new Error(`${method} ${path} has no row in testing/ways-in.ts.`);
  const { access, about } = needs;
  return { method, path, access, about, session: known && sessionParameter(known) };
}
