import { nothing, type Submission } from '../carry.js';
import { folder, under } from '../entries.js';
import type { Step } from '../model.js';
import { free, workdirOf, type Agent, type Assignment, type Work } from './agent.js';
import { containerAgent } from './in-container.js';

/** Does nothing. A task that it passes cannot tell agents apart. */
export const nop: Agent = {
  ...containerAgent('nop', () => null),
  begin: (assignment) =>
    assignment.task.carries.kind === 'files'
      ? handsIn(({ files }) => ({ ...nothing, entries: under(workdirOf(assignment), files) }))
      : containerAgent('nop', () => null).begin(assignment),
};

/** Puts the reference solution in place. A task that it fails is broken here. */
export const oracle: Agent = {
  name: 'oracle',
  model: null,
  begin: (assignment) =>
    assignment.task.steps[0]?.oracle.kind === 'script'
      ? scripted.begin(assignment)
      : handsIn((step) => solutionOf(step, assignment)),
};

const scripted = containerAgent('oracle', ({ oracle: given }) =>
  given.kind === 'script'
    ? { ...given, files: [folder('/solution', 0o777), ...given.files] }
    : null,
);

/** A program in the sandbox: it finds the task in the file that BELAY_INSTRUCTION names. */
export const command = (line: string): Agent =>
  containerAgent(`command:${line}`, () => ({
    files: [],
    command: ['sh', '-c', line],
    env: { BELAY_INSTRUCTION: '/belay/instruction.md' },
  }));

/** Answers that are files or patches need no container of the agent. */
export async function handsIn(submit: (step: Step) => Submission): Promise<Work> {
  return { step: async (step) => submit(step), spent: () => free, end: async () => undefined };
}

function solutionOf(step: Step, assignment: Assignment): Submission {
  if (step.oracle.kind === 'patch') return { ...nothing, patch: step.oracle.patch };
  if (step.oracle.kind === 'script') return nothing;
  return { ...nothing, entries: under(workdirOf(assignment), step.oracle.files) };
}
