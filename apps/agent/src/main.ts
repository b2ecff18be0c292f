import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { belayVersion, ignoreError } from '@belay/protocol';
import { runAgent, type AgentOptions } from './agent.js';
import type { ServerConnection } from './server-connection.js';
import { readEnvironment, type AgentEnvironment } from './environment.js';
import { endingBySignal } from './ending-by-signal.js';
import { DeferredEventWriter } from './event-writer.js';
import { onOrphaned } from './on-orphaned.js';
import { writeHomeSettings, writeIdentity } from './home-settings.js';
import { withPackageTools } from './with-package-tools.js';
import { releaseMemory } from './release-memory.js';
import { separateFromPrograms } from './user-separation.js';
import { dialServer } from './dial-server.js';

/** An agent without a session for this long belongs to a pool; one without events waits for its user. */
const idleDelaysMs = { noSession: 3_000, noEvent: 10_000 };

async function main(): Promise<void> {
  const environment = readEnvironment();
  separateFromPrograms(environment.user);
  const home = join(environment.state, 'home');
  mkdirSync(home, { recursive: true });
  writeHomeSettings(home, environment);
  const connection = dialServer(environment);
  const { record } = environment;
  if (record !== undefined) {
    const isConnected = () => connection.connected;
    onOrphaned({ record, isConnected }, () => void connection.close());
  }
  const idle = setTimeout(releaseMemory, idleDelaysMs.noSession);
  const shell = environment.bare ? environment.shell : withPackageTools(environment.shell, home);
  const { createServices, ...beforehand } = servicesBeforehand(
    { ...environment, shell },
    connection,
  );
  await runAgent({
    connection,
    version: belayVersion,
    ending: endingBySignal(),
    createServices: (session) => {
      clearTimeout(idle);
      const { gitIdentity } = session.settings;
      if (gitIdentity) writeIdentity(home, gitIdentity);
      return createServices(session);
    },
    ...beforehand,
    idle: { afterMs: idleDelaysMs.noEvent, run: releaseMemory },
    unpack: async (tar) => {
      const { importWorkspace } = await import('./workspace/import-workspace.js');
      return importWorkspace(environment.workspace, tar);
    },
    check: async ({ command, timeoutMs }, { signal }) => {
      const { runCheck } = await import('./drivers/run-check.js');
      const { workspace: cwd, shell: env } = environment;
      return runCheck(command, { cwd, env, timeoutMs, signal });
    },
  });
  await connection.close();
}

/** Opens the services while the agent waits for its session, so that starting one is fast. */
function servicesBeforehand(
  environment: AgentEnvironment,
  connection: ServerConnection,
): Pick<AgentOptions, 'createServices' | 'prepare' | 'copies'> {
  const writer = new DeferredEventWriter();
  const opening = import('./open-services.js').then(({ openServices }) =>
    openServices(environment, { writer, connection }),
  );
  opening.catch(ignoreError('the session that needs the services gets it'));
  return {
    createServices: (session) => {
      writer.begin(session.writer);
      return opening;
    },
    copies: async () => (await opening).history.copies,
    prepare: () =>
      void opening
        .then((services) => services.prepare())
        .catch(ignoreError('the session that needs the services gets it')),
  };
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    const text = `${error instanceof Error ? error.message : String(error)}\n`;
    process.stderr.write(text, () => process.exit(1));
  },
);
