import { client } from '@/lib/server';
import { plural } from '@/lib/format';
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
  const names = files.slice(0, 10).map(({ path, status }) => `  ${status} ${path}`);
  const question = [
    `Rewind files and conversation to event ${seq}?`,
    `${plural(files.length, 'file')} change back, ${plural(messages, 'message')} no longer count. Nothing leaves the log.`,
    ...names,
  ].join('\n');
  if (!confirm(question)) return;
  await client.sessions.rewind(id, { seq, what: 'both' });
  lookAt(context, null);
  say(`Rewound to event ${seq}.`);
}
