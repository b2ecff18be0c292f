// npm run dev: server and dashboard from their sources, at one address. tools/start.mjs starts this
// program in place of the built server, with the same environment; it reports readiness with the
// same line.
import { once } from 'node:events';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';
import { join, sep } from 'node:path';
import { createServer, type ViteDevServer } from 'vite';
import { root } from '../product-node.mjs';
import { buildAgent } from './build-agent.ts';
import { checkTypes } from './check-types.ts';
import { coalesced } from './coalesced.ts';
import { createFront } from './front.ts';
import { serverBuild, serverLibs } from './server-build.ts';
import { DevServer, type ServerReady } from './dev-server.ts';
import { writeSite } from './write-site.ts';

const { BELAY_HOST: host = '127.0.0.1', BELAY_PORT, BELAY_DATA = '', DOCKER_HOST } = process.env;
const args = process.argv.slice(2);
const port = Number(BELAY_PORT);
const ended = new AbortController();
const environment: Record<string, string> = { BELAY_SITE: writeSite() };
const build = await serverBuild();
const inspect = args.filter((each) => each.startsWith('--inspect'));
const server = new DevServer(port && port + 1, inspect);
const updates = createHttpServer();
const vite = await createVite();
const front = createFront({ serverPort, modules: vite.middlewares, updates });
front.listen(port, host);
await once(front, 'listening');
const url = addressOf(front);

let isFirst = true;
const restartServer = coalesced(async () => {
  const began = performance.now();
  if (!(await build.run()))
    return say('✗ server: the build failed; the previous one keeps running.');
  const ready = await server.restart(environment);
  if (!ready) return;
  announce();
  if (isFirst) process.stdout.write(`${JSON.stringify({ ...ready, url } satisfies ServerReady)}\n`);
  else say(`✓ server (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  isFirst = false;
});
const rebuildAgent = coalesced(async () => {
  environment.BELAY_RUNTIME = await buildAgent(DOCKER_HOST ?? '');
  await restartServer();
});
const checkAllTypes = coalesced(() => checkTypes(ended.signal));

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => void end());
await restartServer();

/** Applies the change before it reports type errors. */
async function onChange(path: string): Promise<void> {
  const isIn = (folder: string) => path.startsWith(join(root, folder, 'src') + sep);
  const isOfLibs = (libs: readonly string[]) => libs.some((lib) => isIn(`libs/${lib}`));
  if (!/\.tsx?$/.test(path) || /\.spec\.tsx?$/.test(path)) return;
  if (isIn('apps/server') || isOfLibs(serverLibs)) await restartServer();
  if (isIn('apps/agent') || isOfLibs(['protocol', 'rpc'])) await rebuildAgent();
  if (args.includes('--types')) await checkAllTypes();
}

async function createVite(): Promise<ViteDevServer> {
  // The server runs in production mode, in which React could not hot-swap components here.
  process.env.NODE_ENV = 'development';
  const made = await createServer({
    configFile: join(root, 'apps/web/vite.config.mts'),
    appType: 'custom',
    // Standard output is for the readiness line.
    logLevel: 'warn',
    server: {
      middlewareMode: true,
      hmr: { server: updates },
      // Other origins have no more access to the modules than to the server.
      cors: false,
      // In a git worktree, the packages may be links.
      fs: { allow: [root, realpathSync(join(root, 'node_modules'))] },
    },
  });
  const libs = serverLibs.map((lib) => `libs/${lib}`);
  made.watcher.add(['apps/server', 'apps/agent', ...libs].map((each) => join(root, each, 'src')));
  made.watcher.on('all', (_event, path) => {
    onChange(path).catch((error: unknown) => say(`✗ ${String(error)}`));
  });
  return made;
}

async function serverPort(): Promise<string | undefined> {
  const ready = await server.ready;
  return ready && new URL(ready.url).port;
}

/** Stores the dashboard’s address, so that the command line uses it for the server, too. */
function announce(): void {
  const file = join(BELAY_DATA, 'server.json');
  const saved = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, `${JSON.stringify({ ...saved, url }, null, 2)}\n`);
}

function addressOf(listening: Server): string {
  const { port: taken } = listening.address() as AddressInfo;
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${taken}`;
}

function say(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

async function end(): Promise<void> {
  ended.abort();
  await server.end();
  await Promise.all([vite.close(), build.dispose()]);
  process.exit(0);
}
