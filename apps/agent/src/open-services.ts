import { dirname, join } from 'node:path';
import { AppError, gatewayPort } from '@belay/protocol';
import { createOutgoing } from './egress/outgoing.js';
import { startEgressProxy } from './egress/egress-proxy.js';
import { gatewayVariables } from './gateway/gateway-variables.js';
import { startGateway, type Gateway } from './gateway/gateway.js';
import type { AgentEnvironment } from './environment.js';
import { filesHandlers } from './files/files.handlers.js';
import type { BrowserOptions } from './browser/browser-options.js';
import { createBrowser } from './browser/browser.js';
import { wakeBrowser } from './browser/wake-browser.js';
import type { SessionWriter } from './event-writer.js';
import { isThere } from './permissions.js';
import type { ServerConnection } from './server-connection.js';
import { createGuidance } from './guidance/guidance.js';
import { describeRepository } from './history/describe-repository.js';
import { createHistory, type History, type HistoryOptions } from './history/history.js';
import { skillPlacer } from './workspace/skill-placer.js';
import { createPlan } from './plan/plan.js';
import type { AgentServices, CreateServices } from './agent-services.js';
import { createSystem } from './system/system.js';
import { listeningPorts } from './terminal/listeners.js';
import { terminalEnvironment } from './terminal/terminal-environment.js';
import { Terminals, type TerminalsOptions } from './terminal/terminals.js';
import { proxyVariables, trustVariables } from './egress/environment.js';
import { createWeb, type WebOptions } from './web/web.js';

export interface OpenedServices extends Omit<AgentServices, 'history'> {
  history: History;
  /** Prepares the first steps of a session; writes no events. */
  prepare(): void;
}

/** Opens all services of the agent for its session. The caller closes them. `gatewayPort` 0 means a free one. */
export async function openServices(
  environment: AgentEnvironment,
  { writer, connection }: Omit<Parameters<CreateServices>[0], 'settings'>,
  { gatewayPort: port = gatewayPort } = {},
): Promise<OpenedServices> {
  const { workspace, state } = environment;
  const outgoing = createOutgoing(connection);
  const proxy = await startEgressProxy(outgoing);
  const out = { proxy: `http://127.0.0.1:${proxy.port}`, certificates: bundledCertificates() };
  const env = {
    ...(out.certificates && trustVariables(out.certificates)),
    ...environment.shell,
    ...(!environment.bare && proxyVariables(out.proxy)),
  };
  const server = requestsTo(connection, writer, environment);
  const terminals = new Terminals({ workspace, state, env, writer, ...server });
  const history = createHistory({ workspace, state, writer, copies: server.copies });
  const plan = createPlan({ writer, workspace, commit: (call) => history.commit(call) });
  const { chromium } = environment;
  const browser = createBrowser({ workspace, state, writer, ...out, chromium, env, ...server });
  const guidance = createGuidance({ workspace });
  const system = createSystem({
    workspace,
    path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    ports: () => listeningPorts().filter((one) => one !== proxy.port && one !== port),
  });
  const { putBlob } = server;
  let gateway: Gateway | undefined;

  return {
    handlers: {
      ...filesHandlers({ workspace, writer, putBlob, compare: history.compare }),
      ...terminals.handlers,
      ...browser.handlers,
      ...createWeb({ ...out, search: server.search }),
      ...system.handlers,
      ...plan.handlers,
      ...guidance.handlers,
      ...history.handlers,
    },
    prepare() {
      system.prepare();
      terminals.prepare();
      void history.prepare();
    },
    terminals,
    history,
    plan,
    guidance,
    placeSkill: skillPlacer(environment),
    environment: () => ({ workspace, env: terminalEnvironment(env) }),
    describe: async () =>
      (await Promise.all([system.describe(), describeRepository(workspace)]))
        .filter(Boolean)
        .join('\n'),
    watch: (on) => browser.watch(on),
    page: () => browser.page(),
    refusals: () => outgoing.report(),
    async openGateway({ token, beforeReply, inTerminals }) {
      // The port is that of all programs of the machine.
      if (environment.bare)
        throw new AppError(
          'conflict',
          'Programs on a bare machine cannot call the model: use a sandbox.',
        );
      gateway ??= await startGateway({
        token,
        beforeReply,
        port,
        open: (request) => connection.open('model', request),
      });
      if (inTerminals) terminals.addToEnvironment(gatewayVariables(gateway));
      return gateway;
    },
    async close() {
      const ends = await Promise.allSettled([terminals.closeAll(), browser.close()]);
      await proxy.close();
      await gateway?.close();
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    },
  };
}

/** The services’ requests to the server. */
function requestsTo(
  connection: ServerConnection,
  writer: SessionWriter,
  { bare, browser }: Pick<AgentEnvironment, 'bare' | 'browser'>,
) {
  return {
    openStream: (meta) => connection.open('terminal', meta),
    stored: async (terminal) => (await connection.call('terminal.stored', { terminal })).offset,
    putBlob: async (type, bytes) => (await connection.call('blobs.put', { type, bytes })).blob,
    // Not for bare machines: nothing restores their folders, which may be large.
    copies: bare
      ? undefined
      : {
          stored: () => connection.call('copies.stored', {}),
          open: (part) => connection.open('copies.store', part),
        },
    sendFrame: async (frame) => void (await connection.call('browser.frame', frame)),
    sidecar: async (id) => {
      // A call that only reads runs as soon as it is begun, so the server must have it in the log first.
      await writer.flush();
      const { endpoint } = await connection.call('browser.sidecar', { id });
      if (browser !== undefined) await wakeBrowser(browser, endpoint);
      return endpoint;
    },
    search: async (call, signal) => {
      await writer.flush();
      return connection.call('web.search', call, { signal });
    },
  } satisfies Partial<TerminalsOptions & BrowserOptions & WebOptions & HistoryOptions>;
}

/** The runtime contains the certificates that the host trusts, beside its Node. */
function bundledCertificates(): string | null {
  const file = join(dirname(process.execPath), 'ca.crt');
  return isThere(file) ? file : null;
}
