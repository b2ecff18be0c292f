import { BelayServer } from './belay-server.js';

/** A group of tests with one real server and real sandboxes, which are removed afterwards. */
export function describeSystem(
  name: string,
  tests: (server: BelayServer) => void,
  environment: Record<string, string> = {},
): void {
  describe(name, () => {
    const server = new BelayServer(environment);
    beforeAll(() => server.start());
    afterAll(() => server.dispose());
    tests(server);
  });
}
