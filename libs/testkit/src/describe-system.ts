import { BelayServer } from './server-process.js';

/** A group of tests against one real server with real sandboxes; everything it made is removed after it. */
export function describeSystem(
  name: string,
  tests: (server: BelayServer) => void,
  environment: Record<string, string> = {},
): void {
  describe(name, () => {
    const server = new BelayServer(environment);
    beforeAll(() => server.start(), 60_000);
    afterAll(() => server.dispose(), 60_000);
    tests(server);
  });
}
