import { pluralText, type Event, type EventOf, type Rewound } from '@belay/protocol';
import type { Commit } from '@/features/session-log/log-view';
import { lookAt, type SessionContext } from '@/features/session-log/session-context';
import { askConfirm } from '@/lib/ask';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import { ensureSandbox } from './use-can-act';

interface RewindQuestion {
  /** The last event that still counts. */
  seq: number;
  title: string;
  what?: EventOf<'rewind'>['args']['what'];
}

/** Shows what a rewind would undo, and rewinds if the user confirms; returns whether they did. */
export async function askRewind(
  context: SessionContext,
  { seq, title, what = 'both' }: RewindQuestion,
): Promise<boolean> {
  const { id } = context;
  const preview = await client.sessions.rewind(id, { seq, what, preview: true });
  const sure = await askConfirm({
    title,
    text: `${effectOf(preview)} The log keeps everything, and a rewind can be undone.`,
    lines: linesOf(preview.files),
    verb: 'Rewind',
  });
  if (!sure) return false;
  await client.sessions.rewind(id, { seq, what });
  lookAt(context, null);
  toast(`Rewound to event ${seq}.`);
  return true;
}

/** Undoes a rewind with one to the event before it. */
export async function askUndoRewind(
  context: SessionContext,
  { seq, args: { last = seq - 1, what } }: Event & EventOf<'rewind'>,
): Promise<void> {
  await askRewind(context, { seq: Math.max(1, last), title: 'Undo the rewind?', what });
}

/** Shows the files that undoing a step would change, and undoes it if the user confirms. */
export async function askUndoStep(session: string, { args, message }: Commit): Promise<void> {
  const { commit } = args;
  await ensureSandbox(session);
  const { files } = await client.sessions.call(session, 'workspace.undo', {
    commit,
    preview: true,
  });
  const sure = await askConfirm({
    title: 'Undo this step?',
    text: `“${message}” is undone in ${pluralText(files.length, 'file')}; later changes stay. The agent is told.`,
    lines: linesOf(files),
    verb: 'Undo',
  });
  if (!sure) return;
  await client.sessions.call(session, 'workspace.undo', { commit });
  toast('Undone. The agent is told.');
}

function effectOf({ files, messages }: Rewound): string {
  const restored = files.length > 0 && `restores ${pluralText(files.length, 'file')}`;
  const ignored = messages > 0 && `ignores ${pluralText(messages, 'message')}`;
  const effects = [restored, ignored].filter(Boolean).join(' and ');
  return effects === '' ? 'No file changes.' : `This ${effects}.`;
}

const linesOf = (files: Rewound['files']): string[] =>
  files.slice(0, 50).map(({ path, status }) => `${status}  ${path}`);
