import { ModulesContainer } from '@nestjs/core';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { dashboardPath, operations, viewerRequests } from '@belay/protocol';
import { io } from 'socket.io-client';
import { TestServer } from '../testing/server.js';

jest.setTimeout(60_000);

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

const reads = ({ method }: Route): boolean => method === 'GET';
const operationRoute = '/api/sessions/:id/operations/:name';

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

  it('every route but /health is closed to who has no token', async () => {
    expect(routes.length).toBeGreaterThan(40);
    for (const route of routes) {
      const isOpen = route.path === '/health';
      expect({ ...route, status: await status(route, '') }).toEqual({
        ...route,
        status: isOpen ? 200 : 401,
      });
    }
  });

  it('a viewer reads everywhere, and changes nothing', async () => {
    for (const route of routes) {
      const found = await status(route, server.viewerToken);
      const isRefused = !reads(route) && route.path !== operationRoute;
      expect({ ...route, refused: found === 403 }).toEqual({ ...route, refused: isRefused });
      expect(found).not.toBe(401);
    }
  });

  it('a viewer calls the operations that only read, but for the one that trusts', async () => {
    const refused: string[] = [];
    for (const name of Object.keys(operations)) {
      const path = operationRoute.replace(':name', name);
      const found = await status({ method: 'POST', path }, server.viewerToken);
      if (found === 403) refused.push(name);
    }
    const touching = Object.values(operations).filter(
      ({ risk, name, audience }) =>
        audience.includes('person') && (risk !== 'read' || name === 'workspace.trust'),
    );
    expect(refused).toEqual(touching.map(({ name }) => name));
  });

  it('a viewer’s socket follows, and types nothing', async () => {
    const socket = io(server.url, {
      path: dashboardPath,
      transports: ['websocket'],
      extraHeaders: { authorization: `Bearer ${server.viewerToken}` },
    });
    const refused: string[] = [];
    for (const name of Object.keys(viewerRequests)) {
      const answer = (await socket.emitWithAck(name, {})) as { error?: { code: string } };
      if (answer.error?.code === 'forbidden') refused.push(name);
    }
    socket.close();
    expect(refused).toEqual(['terminal.keys', 'terminal.fit', 'terminal.hold', 'terminal.open']);
  });

  it('every body and query has a schema', () => {
    const unchecked: string[] = [];
    for (const { controllers } of server.app.get(ModulesContainer).values()) {
      for (const { metatype } of controllers.values()) {
        unchecked.push(...uncheckedInputs(metatype as Controller));
      }
    }
    // An operation's input is checked by the operation's own schema.
    expect(unchecked).toEqual(['SessionContentsController.call']);
  });
});

type Controller = (new (...args: never[]) => object) & { name: string };

function uncheckedInputs(controller: Controller): string[] {
  const inputs = [RouteParamtypes.BODY, RouteParamtypes.QUERY].map(String);
  return Object.getOwnPropertyNames(controller.prototype)
    .filter((method) => {
      const given = Reflect.getMetadata('__routeArguments__', controller, method) as
        Record<string, { index: number }> | undefined;
      const types = Reflect.getMetadata('design:paramtypes', controller.prototype, method) as
        { isZodDto?: boolean }[] | undefined;
      return Object.entries(given ?? {}).some(
        ([key, { index }]) =>
          inputs.includes(key.split(':')[0] ?? '') && types?.[index]?.isZodDto !== true,
      );
    })
    .map((method) => `${controller.name}.${method}`);
}
