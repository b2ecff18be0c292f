import {
  AppError,
  errorFrom,
  machineServerCalls,
  type Contract,
  type PlaceCapacity,
} from '@belay/protocol';
import { dialRpc, inTime } from '@belay/rpc';
import { singleLine, type LineOutput } from '../output.js';
import { description, type Joined } from './joined.js';
import type { AgentNews, ServedAgents } from './served-agents.js';

export interface ServeMachineOptions<S extends Contract> {
  joined: Joined;
  /** Adopts agents that are still running. */
  openAgents(news: AgentNews): Promise<ServedAgents<S>>;
  output: LineOutput;
  /** What it has for agents in containers. */
  capacity: PlaceCapacity | undefined;
}

/** How long the final report to the server may take. */
const endTimeoutMs = 2_000;

/** Serves the server’s calls until a signal or a refusal; a refusal rejects with its reason. */
export async function serveMachine<S extends Contract>(
  options: ServeMachineOptions<S>,
): Promise<void> {
  const { joined, output, openAgents, capacity } = options;
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  const agents = await openAgents({
    started: (session) => output.line(`Session ${session} is running here now.`),
    ended: (session, reason) => output.line(`Session ${session}: ${singleLine(reason, Infinity)}`),
  });
  const connection = dialRpc({
    address: joined.url.replace(/^http/, 'ws'),
    token: joined.credential,
    serves: agents.contract,
    calls: machineServerCalls,
  });
  const tell = (sandbox: string, reason: string) =>
    connection.call('agents.ended', { sandbox, reason: reason.slice(0, 1_000) });
  for (const session of agents.sessions) output.line(`Session ${session} is still running here.`);
  agents.serve(connection);
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
  agents: Pick<ServedAgents<Contract>, 'close' | 'sandboxes'>,
  tell: (sandbox: string, reason: string) => Promise<unknown>,
): Promise<void> {
  const { sandboxes } = agents;
  await agents.close();
  const told = sandboxes.map((sandbox) => tell(sandbox, 'belay join was ended on its machine.'));
  await inTime(Promise.allSettled(told), endTimeoutMs, () => undefined);
}
