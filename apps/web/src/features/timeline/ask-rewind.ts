import { lookAt, type SessionContext } from '@/features/session-log/session-context';
import { askConfirm } from '@/lib/ask';
import { pluralText } from '@belay/protocol';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';

/** Shows what a rewind would undo, and rewinds if the user confirms. */
export async function askRewind(context: SessionContext, seq: number): Promise<void> {
  const { id } = context;
  const { files, messages } = await client.sessions.rewind(id, {
    seq,
    what: 'both',
    preview: true,
  });
  const sure = await askConfirm({
    title: `Rewind to event ${seq}?`,
    text: `Restores ${pluralText(files.length, 'file')} and ignores ${pluralText(messages, 'message')}. The log keeps everything.`,
    lines: files.slice(0, 50).map(({ path, status }) => `${status}  ${path}`),
    verb: 'Rewind',
  });
  if (!sure) return;
  await client.sessions.rewind(id, { seq, what: 'both' });
  lookAt(context, null);
  toast(`Rewound to event ${seq}.`);
}
