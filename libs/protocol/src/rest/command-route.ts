import { sessionCommands, type SessionCommandName } from '../session-commands.js';
import { nothing, route, type Nothing, type Route, type RouteDefinition } from './route.js';

type CommandBody<N extends SessionCommandName> = (typeof sessionCommands)[N]['body'];

/**
 * The route of a session’s command: summary, description, body and access are those of the command; the path’s parameters
 * are the command’s ids, in their order. The response is empty, or the command’s output.
 */
export function commandRoute<
  N extends SessionCommandName,
  const M extends RouteDefinition['method'],
  const P extends RouteDefinition['path'],
  const More extends Partial<RouteDefinition> & Pick<RouteDefinition, 'response'> = {
    response: Nothing;
  },
>(name: N, method: M, path: P, more?: More) {
  const { title: summary, description, scope: access, body } = sessionCommands[name];
  type Defined = { method: M; path: P; summary: string; command: N; body: CommandBody<N> } & More;
  return route({
    command: name,
    method,
    path,
    summary,
    description,
    access,
    body,
    response: nothing,
    ...more,
  } as RouteDefinition) as Route as Route<Defined>;
}
