import { AppError, planProgress, type EventArgs } from '@belay/protocol';
import { z } from 'zod';
import type { Conversation } from './conversation.js';
import { listed } from './listed.js';
import { runningText } from './work-overview.js';

/** In sessions with fewer replies, including that with `finish`, nothing is doubted. */
const fewestSteps = 4;
/** Changes of such files need no command to check them. */
const prose = /(^|\/)(readme|license|changelog)$|\.(md|markdown|txt|rst|adoc)$/i;

/** The refusal of a `finish` that the log contradicts; undefined if it does not. */
export function doubtedFinish(
  conversation: Pick<Conversation, 'approvals' | 'plan' | 'work' | 'running'>,
): AppError | undefined {
  const doubts = finishDoubts(conversation);
  if (doubts.length === 0) return undefined;
  const { approvals, running } = conversation;
  const reasons = [
    ...doubts,
    ...(running.length > 0 ? [`Still running: ${running.map(runningText).join('; ')}.`] : []),
  ];
  const sentence = `Not finished yet, because:\n${reasons.map((reason) => `- ${reason}`).join('\n')}\n${approvals === 'plan' ? askFirst : 'Do what is missing'}; call finish again if all is right as it is.`;
  return new AppError('conflict', sentence, { doubts });
}

/** Nothing that is missing can be done before. */
const askFirst = 'Ask the user to approve the plan first, with ask';

/** Whether a result is such a refusal. */
export const isDoubt = ({ ok, output }: Pick<EventArgs<'result'>, 'ok' | 'output'>): boolean =>
  !ok && refusal.safeParse(output).success;

const refusal = z.object({ details: z.object({ doubts: z.array(z.string()) }) });

/** What contradicts a successful end, as sentences for the model. */
function finishDoubts({
  approvals,
  plan,
  work,
}: Pick<Conversation, 'approvals' | 'plan' | 'work'>): string[] {
  if (work.steps < fewestSteps) return [];
  const { steps, done } = planProgress(plan ?? '');
  return [
    ...(done < steps ? [`The plan has ${steps - done} of ${steps} steps that are not done.`] : []),
    ...filesDoubt(work),
    // The mode `plan` refuses the command that would check them.
    ...(approvals !== 'plan' && work.changed.length > 0 && work.edited ? checkDoubt(work) : []),
  ];
}

function filesDoubt({ changed, undone }: Conversation['work']): string[] {
  if (changed.length > 0 || undone.length === 0) return [];
  return [`The user has undone your changes (${listed(undone)}): none of them is left.`];
}

function checkDoubt({ changed, checked }: Conversation['work']): string[] {
  if (changed.every((path) => prose.test(path))) return [];
  if (!checked) return ['No command has ended since your last edit, so nothing has checked it.'];
  if (checked.exitCode === 0) return [];
  return [
    `The last command since your last edit, \`${listed([checked.command])}\`, ended with exit code ${checked.exitCode}.`,
  ];
}
