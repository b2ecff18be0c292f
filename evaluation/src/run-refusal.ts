import { isIP } from 'node:net';
import { isInSession } from './is-in-session.js';
import type { Task, TaskNetwork } from './model.js';
import type { RunFile } from './results/run-file.js';

/** The tasks of a run, with those marked that its agent or its network cannot serve. */
export const withRunRefusals = (tasks: Task[], run: Pick<RunFile, 'agent' | 'network'>): Task[] =>
  tasks.map((task) => ({ ...task, unsupported: task.unsupported ?? runRefusal(task, run) }));

/**
 * Why a run cannot give a task what it needs, in one sentence; null if it can. A list of hosts is
 * enforced by the server's egress proxy, which only sessions have: containers of other agents and
 * of verifiers have a whole network or none.
 */
export function runRefusal(
  { environment, steps }: Task,
  { agent, network }: Pick<RunFile, 'agent' | 'network'>,
): string | null {
  const isModel = isInSession(agent);
  if (isModel && (environment.healthcheck || steps.some(({ healthcheck }) => healthcheck)))
    return 'Its healthcheck runs only for agents of the form command:LINE, not for the agent `model`.';
  if (isModel && steps.some(({ files, setup }) => files.some(({ path }) => path === setup)))
    return 'Its setup.sh runs only for agents of the form command:LINE, not for the agent `model`.';
  if (isModel && environment.services?.length && steps.length > 1)
    return 'Its services would outlive the session of a step: use agents of the form command:LINE, not the agent `model`.';
  if (network === 'none') return null;
  const hosts = hostsOf(environment.network);
  if (!isModel && hosts.length > 0)
    return `It may reach only ${hosts.join(', ')}, and only the agent \`model\` has the egress proxy that enforces this: use that agent, or --network none.`;
  const wrong = hosts.find((host) => isIP(host) !== 0 || !hostName.test(host));
  if (wrong)
    return `It may reach ${wrong}, and the egress proxy allows names of hosts only: use --network none.`;
  const verified = steps.flatMap(({ verifier }) =>
    hostsOf(verifier.network ?? verifier.environment?.network ?? 'none'),
  );
  if (verified.length > 0)
    return `Its verifier may reach only ${[...new Set(verified)].join(', ')}, and verifiers have no egress proxy that enforces this: use --network none.`;
  return null;
}

const hostName = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/;

const hostsOf = (network: TaskNetwork): string[] =>
  typeof network === 'string' ? [] : network.hosts;
