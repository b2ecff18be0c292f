import {
  AppError,
  errorFrom,
  ignoreError,
  machineCalls,
  machineServerCalls,
  type PlaceCapacity,
} from '@belay/protocol';
import { dialRpc, inTime } from '@belay/rpc';
import { singleLine, type LineOutput } from '../output.js';
import type { Agents, OnEnded } from './agents.js';
import { description, type Joined } from './joined.js';

export interface ServeMachineOptions {
  joined: Joined;
  /** Adopts agents that are still running. */
  openAgents(ended: OnEnded): Promise<Agents>;
  output: LineOutput;
  /** What it has for agents in containers. */
  capacity: PlaceCapacity | undefined;
}

/** How long the final report to the server may take. */
const endTimeoutMs = 2_000;

/** Serves the server’s calls until a signal or a refusal; a refusal rejects with its reason. */
export async function serveMachine(options: ServeMachineOptions): Promise<void> {
  const { joined, output, openAgents, capacity } = options;
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  const agents = await openAgents(({ sandbox, session }, reason) => {
    output.line(`Session ${session}: ${singleLine(reason, Infinity)}`);
    tell(sandbox, reason).catch(ignoreError('the next hello says so'));
  });
  const connection = dialRpc({
    address: joined.url.replace(/^http/, 'ws'),
    token: joined.credential,
    serves: machineCalls,
    calls: machineServerCalls,
  });
  const tell = (sandbox: string, reason: string) =>
    connection.call('agents.ended', { sandbox, reason: reason.slice(0, 1_000) });
  for (const session of agents.sessions) output.line(`Session ${session} is still running here.`);
  connection.serve({
    'agents.start': async (wanted) => {
      await agents.start(wanted);
      output.line(`Session ${wanted.session} is running here now.`);
      return {};
    },
    'agents.stop': async ({ sandbox }) => {
      await agents.stop(sandbox);
      return {};
    },
    'files.remove': async ({ folders }) => {
      await agents.removeFiles(folders);
      return {};
    },
  });
  let greeted = false;
  const hello = async (): Promise<void> => {
    const running = agents.sandboxes;
    const reply = await connection.call('machine.hello', {
      description: description(joined.kind),
      running,
      ...(capacity && { capacity }),
    });
    for (const sandbox of reply.end)
      await agents.stop(sandbox).catch((error: unknown) => output.line(errorFrom(error).message));
    output.line(greeted ? 'Connected again.' : `Connected as ${reply.name}. Ctrl-C ends it.`);
    greeted = true;
  };
  const greet = () => void hello().catch((error: unknown) => reject(errorFrom(error)));
  connection.on('connected', greet);
  let ending = false;
  connection.on('disconnected', () => {
    if (!ending) output.line('The server does not respond. Waiting for it…');
  });
  // After a refusal, this call fails with the reason.
  connection.on('closed', greet);
  const end = () => {
    ending = true;
    resolve();
  };
  for (const signal of signals) process.on(signal, end);
  try {
    await over;
    output.line('Ending the agents of this machine…');
    await leave(agents, tell);
  } catch (error) {
    // The machine was removed on the server, so its agents have no server any more.
    await agents.close();
    throw error instanceof AppError ? error : errorFrom(error);
  } finally {
    for (const signal of signals) process.off(signal, end);
    await connection.close();
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function leave(
  agents: Agents,
  tell: (sandbox: string, reason: string) => Promise<unknown>,
): Promise<void> {
  const { sandboxes } = agents;
  await agents.close();
  const told = sandboxes.map((sandbox) => tell(sandbox, 'belay join was ended on its machine.'));
  await inTime(Promise.allSettled(told), endTimeoutMs, () => undefined);
}
