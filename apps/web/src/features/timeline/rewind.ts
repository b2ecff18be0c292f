import { askConfirm } from '@/lib/ask';
import { client } from '@/lib/server';
import { say } from '@/lib/toasts';
import { lookAt, type SessionContext } from '../sessions/session-context';

/** Shows what rewinding would undo, and does it when the person agrees. */
export async function askRewind(context: SessionContext, seq: number): Promise<void> {
  const { id } = context;
  const { files, messages } = await client.sessions.rewind(id, {
    seq,
    what: 'both',
    preview: true,
  });
  const sure = await askConfirm({
    title: `Rewind to event ${seq}?`,
    text: `Files that change back: ${files.length}. Messages that no longer count: ${messages}. Nothing leaves the log.`,
    lines: files.slice(0, 50).map(({ path, status }) => `${status}  ${path}`),
    verb: 'Rewind',
  });
  if (!sure) return;
  await client.sessions.rewind(id, { seq, what: 'both' });
  lookAt(context, null);
  say(`Rewound to event ${seq}.`);
}
