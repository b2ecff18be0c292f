import { platformPrefix, type SessionSettings, type SessionState } from '@belay/protocol';
import type { Progress, State } from './fold-state.js';
import { runningText } from './work-overview.js';

/** Adds the note about a restart to the next prompt. */
export function tellRestart({ waiting, settings }: State, progress: Progress): void {
  const text = restartText(progress, settings?.machine ?? null, waiting.length > 0);
  if (text !== null) progress.notes.add(text);
  if (progress.renewed) progress.shells.clear();
  progress.renewed = false;
  progress.again = null;
  progress.restored = null;
}

/**
 * The text for the model after a restart, or after another agent has taken over: what is no longer as the conversation
 * says. Null if there was neither, or if the user’s own message says how to continue and nothing is lost.
 */
function restartText(
  { again, renewed, restored, ended, shells }: Told,
  machine: SessionSettings['machine'],
  hasMessage: boolean,
): string | null {
  const date = again === null ? null : again.slice(0, 10);
  if (renewed) return renewedText({ date, cause: ended, restored, shells, machine, hasMessage });
  if (date === null || hasMessage) return null;
  return `The session was started again on ${date}. Go on with the task.`;
}

interface Renewed {
  /** The date of the restart; null if the session was not started again by its user. */
  date: string | null;
  /** Why the earlier agent ended, if that is known. */
  cause: string | null;
  /** What the files of the workspace were put back without; null if they were not gone. */
  restored: readonly string[] | null;
  shells: Progress['shells'];
  machine: SessionSettings['machine'];
  hasMessage: boolean;
}

function renewedText({ date, cause, restored, shells, machine, hasMessage }: Renewed): string {
  const { running, directories } = shells;
  const isBare = machine?.kind === 'bare';
  const begun = date === null ? 'goes on' : `was started again on ${date}`;
  const place = isBare ? 'with new terminals' : 'in a new sandbox';
  const shown = [...directories].map(([name, directory]) => `${name} (in ${directory})`).join(', ');
  const lost = [
    running.length > 0 && `- what was running: ${running.map(runningText).join('; ')}`,
    `- the terminals${shown && `: ${shown}`}, with their directories, variables and functions; new ones begin in the workspace`,
    !isBare &&
      '- everything outside of the workspace, such as files in /tmp and installed packages',
  ].filter(Boolean);
  return [
    `${platformPrefix}The session ${begun} ${place}. ${cause ? `Why: ${cause}` : 'Why the earlier one ended is not known.'}`,
    restored === null
      ? 'The files of the workspace are kept. No longer there:'
      : 'The files of the workspace were lost too, and were put back from the last copy of them: read them again before you rely on them. No longer there:',
    ...(restored ?? []).map((one) => `- ${one}`),
    ...lost,
    `Start again what you need${hasMessage ? '' : ', and go on with the task'}.`,
  ].join('\n');
}

type Told = Pick<Progress, 'again' | 'renewed' | 'restored' | 'ended' | 'shells'>;

/** Why another agent worked on what is before these events. */
export const elsewhereCauses = {
  fork: 'It is a fork, which continues another session from its files.',
  imported: 'It was begun on another machine, whose files are now the workspace.',
};

/** Why a session ended, for the model. */
export function endCause(state: SessionState, reason: string | null): string {
  if (state === 'finished') return 'The session had ended, and so did its sandbox.';
  const stated = reason?.replace(/ Restart the session to continue\.$/, '');
  return stated || `The session was ${state}.`;
}
