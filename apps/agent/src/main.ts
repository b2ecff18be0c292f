import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAgent } from './agent.js';
import type { AgentRope } from './agent-rope.js';
import { readEnvironment, type Environment } from './environment.js';
import { LateJournal } from './journal.js';
import { releaseMemory } from './release-memory.js';
import { connect } from './rope.js';
import type { MakeRooms } from './rooms.js';

const version = '0.1.0';
/** An agent without a session after so many milliseconds is one of a pool. */
const idleAfter = 3_000;

async function main(): Promise<void> {
  const environment = readEnvironment();
  const home = join(environment.state, 'home');
  mkdirSync(home, { recursive: true });
  if (environment.cargo !== undefined) tellCargo(home, environment.cargo);
  const rope = connect(environment);
  const idle = setTimeout(releaseMemory, idleAfter);
  const shell = { ...environment.shell, HOME: home };
  const { makeRooms, prepare } = roomsBeforehand({ ...environment, shell }, rope);
  await runAgent({
    rope,
    version,
    makeRooms: (session) => {
      clearTimeout(idle);
      return makeRooms(session);
    },
    prepare,
    unpack: async (tar) => {
      const { importWorkspace } = await import('./workspace/import.js');
      return importWorkspace(environment.workspace, tar);
    },
  });
  await rope.close();
}

/** The registries of the host; what a session has written there stays. */
function tellCargo(home: string, settings: string): void {
  const folder = join(home, '.cargo');
  const file = join(folder, 'config.toml');
  if (existsSync(file)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, settings);
}

/** Opens the rooms while the agent waits for its session, so that to begin costs little more than a message. */
function roomsBeforehand(
  environment: Environment,
  rope: AgentRope,
): { makeRooms: MakeRooms; prepare(): void } {
  const journal = new LateJournal();
  const opening = import('./open-rooms.js').then(({ openRooms }) =>
    openRooms(environment, { journal, rope }),
  );
  // Who needs the rooms hears why there are none.
  opening.catch(() => undefined);
  return {
    makeRooms: (session) => {
      journal.begin(session.journal);
      return opening;
    },
    prepare: () => void opening.then((rooms) => rooms.prepare()).catch(() => undefined),
  };
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
