import { gitEnvironment } from '../engine/git-environment.js';
import { whenReady } from '../engine/readiness.js';
import type { TaskContainer } from '../engine/task-container.js';
import type { CollectCommand, Step } from '../model.js';
import { containerNetwork, workdirOf, type TrialContext } from './agent.js';

/**
 * Runs a step's collect commands, each in a new container from what the one before left, so that no
 * process of the agent runs beside them. `containers` starts with the agent's own, which has ended;
 * the new ones are added, and the caller removes all. `keep` makes an image of an ended container.
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
    const container = await createContainer(context, await keep(last), command);
    containers.push(container);
    const { exitCode, timedOut } = await container.run(command.seconds, context.signal);
    const how = timedOut ? `took longer than ${command.seconds} s` : `exited with code ${exitCode}`;
    if (timedOut || exitCode !== 0)
      faults.push(
        `Collect command ${index + 1} ${how}. ${(await container.output()).trim().slice(-400)}`,
      );
  }
  return faults;
}

type KeepContainer = (container: TaskContainer) => Promise<string>;

function createContainer(context: TrialContext, image: string, given: CollectCommand) {
  const { task, engine, run } = context;
  const { cpus, memoryMb, healthcheck, env, network } = task.environment;
  return engine.create({
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
    network: containerNetwork(context, network),
    files: given.files,
  });
}
