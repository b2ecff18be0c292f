import { ModulesContainer } from '@nestjs/core';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { allRoutes, operations, viewerRequests } from '@belay/protocol';
import { z } from 'zod';
import { dashboardSocket } from '../../testing/dashboard-socket.js';
import { TestServer } from '../../testing/server.js';

interface Route {
  method: string;
  path: string;
}

/** Every route that the server has, as Express knows it. */
function routesOf(server: TestServer): Route[] {
  const { router } = server.app.getHttpAdapter().getInstance() as {
    router: { stack: { route?: { path: string; methods: Record<string, boolean> } }[] };
  };
  return router.stack.flatMap(({ route }) =>
    Object.keys(route?.methods ?? {}).map((method) => ({
      method: method.toUpperCase(),
      path: route?.path ?? '',
    })),
  );
}

/** What says nothing of sessions: ChatGPT fetches the last four before it has a token. */
const openPaths = [
  '/health',
  '/health/live',
  '/health/ready',
  '/.well-known/ai-plugin.json',
  '/gpt/openapi.json',
  '/gpt/logo.svg',
  '/gpt/legal',
  '/schemas/action-manifest.json',
  '/.well-known/belay-keys.json',
  // With the current password.
  '/api/users/password',
];

const isOpen = ({ path }: Route): boolean =>
  openPaths.includes(path) ||
  // With a token of its own, in the body.
  path === '/api/machines/join' ||
  path.startsWith('/.well-known/oauth-') ||
  (path.startsWith('/oauth/') && path !== '/oauth/consents');

/** Takes the secret of a webhook or of an automation’s address, and no token. */
const hasOwnSecret = ({ path }: Route): boolean => path.startsWith('/hooks/');

/** Operations with the risk `read` that are not for viewers. */
const acting = [
  'workspace.trust',
  'terminal.read',
  'browser.read',
  'browser.hover',
  'browser.resize',
  'browser.scroll',
  'browser.wait',
  'browser.screenshot',
  'session.prompt',
];

const neededBy = ({ method, path }: Route) =>
  allRoutes.find((route) => route.method === method && route.path === path)?.access;
const operationRoute = '/api/sessions/:id/operations/:name';
const gptOperationRoute = '/gpt/operations/:name';

describe('who may use what', () => {
  const server = new TestServer();
  let routes: Route[];
  beforeAll(async () => {
    await server.start();
    routes = routesOf(server);
  });
  afterAll(() => server.close());

  const status = async ({ method, path }: Route, token: string): Promise<number> => {
    const filled = path.replaceAll(/:\w+/g, 'x');
    return (await server.fetch(filled, { method, token })).status;
  };

  it('every route needs a token, but for health and how an application gets one', async () => {
    expect(routes.length).toBeGreaterThan(40);
    for (const route of routes) {
      const found = await status(route, '');
      expect({ ...route, isOpen: found !== 401 }).toEqual({ ...route, isOpen: isOpen(route) });
    }
  });

  it('a viewer reads everywhere, and changes nothing', async () => {
    for (const route of routes) {
      const found = await status(route, server.viewerToken);
      const isRefused = !['view', 'open'].includes(neededBy(route) ?? '');
      expect({ ...route, refused: found === 403 }).toEqual({ ...route, refused: isRefused });
      expect({ ...route, known: found !== 401 }).toEqual({ ...route, known: !hasOwnSecret(route) });
    }
  });

  it('a viewer calls the operations that only read, but for those that act on what the agent sees', async () => {
    const refused: string[] = [];
    for (const name of Object.keys(operations)) {
      const path = operationRoute.replace(':name', name);
      const found = await status({ method: 'POST', path }, server.viewerToken);
      if (found === 403) refused.push(name);
    }
    const touching = Object.values(operations).filter(
      ({ risk, name, audience }) =>
        audience.includes('user') && (risk !== 'read' || acting.includes(name)),
    );
    expect(refused).toEqual(touching.map(({ name }) => name));
  });

  it('attacks: 29, a viewer sees of MCP servers neither arguments nor addresses beyond their hosts', async () => {
    const secret = 'k-in-an-argument';
    await server.json('POST', '/api/mcp', {
      name: 'stdio',
      transport: {
        type: 'stdio',
        command: '/opt/tool',
        args: [`--key=${secret}`],
        env: { A: secret },
        folder: `/${secret}`,
        image: secret,
        host: true,
      },
    });
    const url = `http://127.0.0.1:9/${secret}?key=${secret}`;
    await server.json('POST', '/api/mcp', { name: 'http', transport: { type: 'http', url } });
    const viewed = await (await server.fetch('/api/mcp', { token: server.viewerToken })).text();
    expect(viewed).toContain('"command":"tool"');
    expect(viewed).not.toContain(secret);
    // The control: the user sees what was set.
    expect(await (await server.fetch('/api/mcp')).text()).toContain(`--key=${secret}`);
  });

  it('a viewer’s socket follows, and types nothing', async () => {
    const socket = dashboardSocket(server.url, { authorization: `Bearer ${server.viewerToken}` });
    const refused: string[] = [];
    for (const name of Object.keys(viewerRequests)) {
      const answer = (await socket.emitWithAck(name, {})) as { error?: { code: string } };
      if (answer.error?.code === 'forbidden') refused.push(name);
    }
    socket.close();
    expect(refused).toEqual(['terminal.keys', 'terminal.fit', 'terminal.hold', 'terminal.open']);
  });

  it('every input is parsed by the route’s schemas', () => {
    const unchecked: string[] = [];
    for (const { controllers } of server.app.get(ModulesContainer).values()) {
      for (const { metatype } of controllers.values()) {
        unchecked.push(...rawInputs(metatype as Controller));
      }
    }
    for (const { body, path } of allRoutes) if (body instanceof z.ZodUnknown) unchecked.push(path);
    // An operation’s input is checked by the operation’s own schema.
    expect(unchecked).toEqual([operationRoute, gptOperationRoute]);
  });

  it('the routes are those of the contract', () => {
    const line = ({ method, path }: Route): string => `${method} ${path}`;
    expect(routes.map(line).toSorted()).toEqual(allRoutes.map(line).toSorted());
  });
});

type Controller = (new (...args: never[]) => object) & { name: string };

/** Handlers that take a part of the request as Nest gives it. */
function rawInputs(controller: Controller): string[] {
  const inputs = [RouteParamtypes.BODY, RouteParamtypes.QUERY, RouteParamtypes.PARAM].map(String);
  return Object.getOwnPropertyNames(controller.prototype)
    .filter((method) => {
      const given = Reflect.getMetadata('__routeArguments__', controller, method) as
        Record<string, unknown> | undefined;
      return Object.keys(given ?? {}).some((key) => inputs.includes(key.split(':')[0] ?? ''));
    })
    .map((method) => `${controller.name}.${method}`);
}
