import type { Route } from '@belay/protocol';

/** Those of these routes whose path matches an address, whichever their methods. */
export const routesAt = (url: string, routes: readonly Route[]): Route[] =>
  routes.filter((route) => patternOf(route).test(url));

const patterns = new Map<Route, RegExp>();

function patternOf(route: Route): RegExp {
  const known = patterns.get(route);
  if (known) return known;
  const pattern = new RegExp(
    `^${route.path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/?]+')}/?(\\?|$)`,
  );
  patterns.set(route, pattern);
  return pattern;
}
