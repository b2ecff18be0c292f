import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runAgent } from './agent.js';
import { readEnvironment } from './environment.js';
import { releaseMemory } from './release-memory.js';
import { connect } from './rope.js';

const version = '0.1.0';
/** An agent without a session after so many milliseconds is one of a pool. */
const idleAfter = 3_000;

/** Small until there is a session: twenty of these may wait at once. */
async function main(): Promise<void> {
  const environment = readEnvironment();
  const home = join(environment.state, 'home');
  mkdirSync(home, { recursive: true });
  const rope = connect(environment);
  const idle = setTimeout(releaseMemory, idleAfter);
  await runAgent({
    rope,
    version,
    makeRooms: async (session) => {
      clearTimeout(idle);
      const { openRooms } = await import('./open-rooms.js');
      return openRooms({ ...environment, shell: { ...environment.shell, HOME: home } }, session);
    },
    unpack: async (tar) => {
      const { importWorkspace } = await import('./workspace/import.js');
      return importWorkspace(environment.workspace, tar);
    },
  });
  await rope.close();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
