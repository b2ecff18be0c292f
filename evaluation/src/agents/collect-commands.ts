import type { TaskContainer, TaskExit } from '@belay/containers';
import { gitEnvironment } from '../engine/git-environment.js';
import { whenReady } from '../engine/readiness.js';
import { createTask } from '../engine/task-files.js';
import type { CollectCommand, Step } from '../model.js';
import { agentNetwork, workdirOf, type TrialContext } from './agent.js';

/**
 * Runs a step's collect commands, each in a new container from what the one before left, so that no
 * process of the agent runs beside them, or in a running service. `containers` starts with the
 * agent's own, which has ended; the new ones are added, and the caller removes all. `keep` makes an
 * image of an ended container.
 *
 * Returns a sentence for each command that failed. As in Harbor, that does not end the trial.
 */
export async function runCollectCommands(
  context: TrialContext,
  { collect = [] }: Step,
  { containers, keep }: { containers: TaskContainer[]; keep: KeepContainer },
): Promise<string[]> {
  const faults: string[] = [];
  for (const [index, command] of collect.entries()) {
    const last = containers.at(-1);
    if (!last) break;
    const { exitCode, timedOut, output } = command.service
      ? await runInService(context, command.service, command)
      : await runInCopy(context, command, { last, containers, keep });
    const how = timedOut ? `took longer than ${command.seconds} s` : `exited with code ${exitCode}`;
    if (timedOut || exitCode !== 0)
      faults.push(`Collect command ${index + 1} ${how}. ${output.trim().slice(-400)}`);
  }
  return faults;
}

type Ran = TaskExit & { output: string };

async function runInCopy(
  context: TrialContext,
  command: CollectCommand,
  {
    last,
    containers,
    keep,
  }: { last: TaskContainer; containers: TaskContainer[]; keep: KeepContainer },
): Promise<Ran> {
  const container = await createContainer(context, await keep(last), command);
  containers.push(container);
  const exit = await container.run(command.seconds, context.signal);
  return { ...exit, output: await container.output() };
}

/** A service cannot be stopped for this: what it knows may be in its memory. */
async function runInService(
  { services, signal }: TrialContext,
  service: string,
  { command, user, seconds }: CollectCommand,
): Promise<Ran> {
  const container = services?.container(service);
  if (!container) throw new Error(`The service ${service} was not started.`);
  return container.exec(command, { user, seconds, signal });
}

type KeepContainer = (container: TaskContainer) => Promise<string>;

async function createContainer(context: TrialContext, image: string, given: CollectCommand) {
  const { task, host, run } = context;
  const { cpus, memoryMb, healthcheck, env } = task.environment;
  return createTask(host, {
    run,
    image,
    command: whenReady(
      given.command,
      healthcheck ? { before: healthcheck, entrypoint: context.image.entrypoint } : {},
    ),
    user: given.user ?? context.image.user,
    workdir: workdirOf(context),
    env: { ...gitEnvironment, ...env },
    cpus,
    memoryMb,
    ...(await agentNetwork(context)),
    files: given.files,
  });
}
