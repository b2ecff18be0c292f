import type { ContainerNetwork, FoundImage, TaskEngine, TaskHost } from '@belay/containers';
import type { Artifacts } from '../artifacts.js';
import type { Services } from '../engine/services.js';
import { folderEntry, parentFolders, ownedBy, under, type Entry } from '../entries.js';
import type { Step, Task, TaskNetwork } from '../model.js';

export type TaskImage = FoundImage & { name: string };

/** State shared by the trials of a run. */
export interface RunContext {
  /** Where the containers of the trial are. */
  host: TaskHost;
  /** This machine’s, which makes all images. */
  engine: TaskEngine;
  /** The run's id, which labels its containers. */
  run: string;
  /** `declared` gives tasks the network that they request; `none` gives them no network. */
  network: 'none' | 'declared';
}

/**
 * The network of a container. A list of hosts needs the egress proxy, which only sessions have, so
 * containers get none.
 */
export const containerNetwork = (run: RunContext, declared: TaskNetwork): 'none' | 'bridge' =>
  run.network === 'declared' && declared === 'bridge' ? 'bridge' : 'none';

/** The network of the agent's container, and of others in its place: that of its services, if it has any. */
export async function agentNetwork(context: TrialContext): Promise<ContainerNetwork> {
  const { services, task } = context;
  return services
    ? services.network()
    : { network: containerNetwork(context, task.environment.network) };
}

/** The input of the agent and the verifier of a trial. */
export interface TrialContext extends RunContext {
  task: Task;
  image: TaskImage;
  /** By step name, for steps whose verifier has its own environment. */
  verifierImages: Map<string, TaskImage>;
  /** The images of the task's services, by name. */
  serviceImages: Map<string, TaskImage>;
  /** Null for a task without services. */
  services: Services | null;
  attempt: number;
  signal: AbortSignal;
  /** Called once the agent has a session on the server. */
  onSession?(session: string): void;
}

/** The cost of a trial. */
export interface TrialUsage {
  session: string | null;
  /** Where the sandbox of its session was. */
  sessionPlace?: string;
  tokens: number;
  dollars: number;
}

/**
 * An agent that has been set up for one trial. Steps are run one after the other; `stop` is always
 * called.
 */
export interface AgentInstance {
  /** Its actions, in the format of trajectory.json; called after `stop`. */
  trajectory?(): Promise<object | null>;
  /**
   * Runs the agent within the step's limit and collects its artifacts; the agent has ended
   * completely when this resolves. `feedback` is the test output of the previous try. Rejects when
   * the engine fails or the trial is aborted.
   */
  run(step: Step, feedback: string | null): Promise<Artifacts>;
  usage(): TrialUsage;
  stop(): Promise<void>;
}

export interface Agent {
  /** Part of a trial's key: agents with the same name count as the same agent. */
  name: string;
  model: string | null;
  setup(context: TrialContext): Promise<AgentInstance>;
}

export const noUsage: TrialUsage = { session: null, tokens: 0, dollars: 0 };

export const workdirOf = ({ task, image }: Pick<TrialContext, 'task' | 'image'>): string =>
  task.environment.workdir ?? image.workdir;

/**
 * The working folder’s content before an agent starts, in folders that the agent can write in. A
 * folder that the image provides keeps its owner.
 */
export function startingFiles(context: Pick<TrialContext, 'task' | 'image'>, step: Step): Entry[] {
  const { artifacts, user } = context.task;
  const workdir = workdirOf(context);
  const isOurs =
    artifacts.kind === 'files' || (artifacts.kind === 'patch' && step.files.length > 0);
  const folders = isOurs
    ? ownedBy([folderEntry(workdir), ...parentFolders(step.files)], Number(user ?? 0))
    : [];
  return under(workdir, [...folders, ...step.files]);
}

/** Folders that formats guarantee to an agent, writable by any user. */
export function agentFolders({ artifacts }: Task): Entry[] {
  if (artifacts.kind !== 'container' && artifacts.kind !== 'paths') return [];
  return ownedBy(
    ['/logs', '/logs/agent', '/logs/artifacts', '/agent-logs'].map((path) =>
      folderEntry(path, 0o777),
    ),
    0,
  );
}
