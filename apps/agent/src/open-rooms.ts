import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startEgressProxy } from './egress/proxy.js';
import type { Environment } from './environment.js';
import { createFiles } from './files/files.handlers.js';
import { createBrowser } from './browser/browser.js';
import { createGuidance } from './guidance/guidance.js';
import { createHistory } from './history/history.js';
import { createPlan } from './plan/plan.js';
import type { AgentRooms, MakeRooms } from './rooms.js';
import { createSystem } from './system/system.js';
import { createTerminals } from './terminal/terminals.js';
import { proxyVariables, trustVariables } from './web/egress-environment.js';
import { createWeb } from './web/web.js';

export interface OpenedRooms extends AgentRooms {
  /** Does beforehand what the first steps of a session need; nothing of it is written to the journal. */
  prepare(): void;
}

/** Opens all rooms of the agent for its session. Whoever calls closes what is answered. */
export async function openRooms(
  environment: Environment,
  { journal, rope }: Parameters<MakeRooms>[0],
): Promise<OpenedRooms> {
  const { workspace, state } = environment;
  const proxy = await startEgressProxy({
    open: (host, port) => rope.open('egress', { host, port }),
  });
  const out = { proxy: `http://127.0.0.1:${proxy.port}`, certificates: bundledCertificates() };
  const env = {
    ...(out.certificates && trustVariables(out.certificates)),
    ...environment.shell,
    ...proxyVariables(out.proxy),
  };

  const terminals = createTerminals({
    workspace,
    state,
    env,
    journal,
    openStream: (meta) => rope.open('terminal', meta),
    stored: async (terminal) => (await rope.call('terminal.stored', { terminal })).offset,
  });
  const history = createHistory({ workspace, state, journal });
  const browser = createBrowser({
    workspace,
    state,
    journal,
    proxy: out.proxy,
    chromium: environment.chromium,
    env,
    putBlob: async (type, bytes) => (await rope.call('blobs.put', { type, bytes })).blob,
    sendFrame: async (frame) => void (await rope.call('browser.frame', frame)),
    sidecar: async () => (await rope.call('browser.sidecar', {})).endpoint,
  });
  const guidance = createGuidance({ workspace });
  const system = createSystem({ workspace, path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' });
  const web = createWeb({
    ...out,
    search: (input, signal) => rope.call('web.search', input, { signal }),
  });

  return {
    handlers: {
      ...createFiles({ workspace, journal }),
      ...terminals.handlers,
      ...browser.handlers,
      ...web,
      ...system.handlers,
      ...createPlan({ journal }),
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
    guidance,
    describe: () => system.describe(),
    watch: (on) => browser.watch(on),
    page: () => browser.page(),
    async close() {
      await Promise.all([terminals.close(), browser.close()]);
      await proxy.close();
    },
  };
}

/** The runtime brings the certificates that the host trusts, beside its node. */
function bundledCertificates(): string | null {
  const file = join(dirname(process.execPath), 'ca.crt');
  return existsSync(file) ? file : null;
}
