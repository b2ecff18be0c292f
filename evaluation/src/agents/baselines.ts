import { noArtifacts, type Artifacts } from '../artifacts.js';
import { folderEntry, under } from '../entries.js';
import type { Step } from '../model.js';
import { noUsage, workdirOf, type Agent, type AgentInstance, type TrialContext } from './agent.js';
import { containerAgent } from './container-agent.js';

/** Does nothing. A task that it passes cannot distinguish agents. */
export const nop: Agent = {
  ...containerAgent('nop', () => null),
  setup: (context) =>
    context.task.artifacts.kind === 'files'
      ? fixedArtifacts(({ files }) => ({
          ...noArtifacts,
          entries: under(workdirOf(context), files),
        }))
      : containerAgent('nop', () => null).setup(context),
};

/** Applies the reference solution. A task that it fails does not work here. */
export const oracle: Agent = {
  name: 'oracle',
  model: null,
  setup: (context) =>
    context.task.steps[0]?.oracle.kind === 'script'
      ? scripted.setup(context)
      : fixedArtifacts((step) => solutionOf(step, context)),
};

const scripted = containerAgent('oracle', ({ oracle: given }) =>
  given.kind === 'script'
    ? { ...given, files: [folderEntry('/solution', 0o777), ...given.files] }
    : null,
);

/** A program in the task's container, which reads the task from the file in BELAY_INSTRUCTION. */
export const command = (line: string): Agent =>
  containerAgent(`command:${line}`, () => ({
    files: [],
    command: ['sh', '-c', line],
    env: { BELAY_INSTRUCTION: '/belay/instruction.md' },
  }));

/** For agents whose artifacts are known in advance: they need no container. */
export async function fixedArtifacts(
  artifactsOf: (step: Step) => Artifacts,
): Promise<AgentInstance> {
  return {
    run: async (step) => artifactsOf(step),
    usage: () => noUsage,
    stop: async () => undefined,
  };
}

function solutionOf(step: Step, context: TrialContext): Artifacts {
  if (step.oracle.kind === 'patch') return { ...noArtifacts, patch: step.oracle.patch };
  if (step.oracle.kind === 'script') return noArtifacts;
  return { ...noArtifacts, entries: under(workdirOf(context), step.oracle.files) };
}
