import { isEnded, type SessionSummary } from '@belay/protocol';
import type { MenuItem } from '@/components/ui/menu';
import { askConfirm, askText } from '@/lib/ask';
import { download } from '@/lib/download';
import { openSessionPage } from '@/lib/go';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

const approvalModes = [
  { mode: 'ask', label: 'Ask me each time' },
  { mode: 'delay', label: 'Run calls after two seconds' },
  { mode: 'auto', label: 'Run calls at once' },
] as const;

/** What can be done with a session as a whole, for its menu. Who only watches may take it along. */
export function sessionActions(session: SessionSummary, readOnly: boolean): (MenuItem | null)[] {
  const { id, state, archived } = session;
  const ended = isEnded(state);
  const exports = [
    { label: 'Changes as a patch', run: () => attempt(() => save(session, 'patch')) },
    {
      label: 'Files as a zip',
      hint: ended && !readOnly ? 'starts its sandbox' : '',
      run: () => attempt(() => save(session, 'zip')),
    },
  ];
  if (readOnly) return exports;
  return [
    ended
      ? {
          label: 'Restart',
          run: () => attempt(() => client.sessions.restart(id), 'It starts again from its log.'),
        }
      : state === 'paused'
        ? { label: 'Resume', run: () => attempt(() => client.sessions.resume(id)) }
        : { label: 'Pause', run: () => attempt(() => client.sessions.pause(id)) },
    { label: 'Stop', disabled: ended, run: () => attempt(() => client.sessions.stop(id)) },
    { label: 'Fork here', run: () => attempt(() => fork(session, session.lastSeq)) },
    null,
    ...approvalModes
      .filter(({ mode }) => mode !== session.approvals && !ended)
      .map(({ mode, label }) => ({
        label,
        run: () => attempt(() => client.sessions.change(id, { approvals: mode })),
      })),
    null,
    { label: 'Rename…', run: () => attempt(() => rename(session)) },
    { label: 'Tags…', run: () => attempt(() => retag(session)) },
    {
      label: archived ? 'Take out of the archive' : 'Archive',
      run: () => attempt(() => client.sessions.change(id, { archived: !archived })),
    },
    null,
    ...exports,
    {
      label: 'Delete…',
      danger: true,
      disabled: !ended,
      hint: ended ? '' : 'stop it first',
      run: () => attempt(() => remove(session)),
    },
  ];
}

/** Goes on from an event in a new session, and opens it. */
export async function fork({ id }: SessionSummary, seq: number): Promise<void> {
  const forked = await client.sessions.fork(id, { seq });
  await openSessionPage(forked.id);
}

async function save({ id, title }: SessionSummary, format: 'patch' | 'zip'): Promise<void> {
  const content = await client.sessions.export(id, format);
  const type = format === 'zip' ? 'application/zip' : 'text/x-diff';
  download(`${fileName(title)}.${format}`, content as BlobPart, type);
}

async function rename({ id, title }: SessionSummary): Promise<void> {
  const chosen = await askText({ title: 'Rename', label: 'Name', value: title, verb: 'Rename' });
  if (chosen) await client.sessions.change(id, { title: chosen });
}

async function retag({ id, tags }: SessionSummary): Promise<void> {
  const label = 'Tags, separated by commas';
  const chosen = await askText({ title: 'Tags', label, value: tags.join(', '), verb: 'Save' });
  if (chosen === null) return;
  const list = chosen.split(',').map((tag) => tag.trim());
  await client.sessions.change(id, { tags: [...new Set(list)].filter(Boolean) });
}

async function remove({ id, title }: SessionSummary): Promise<void> {
  const sure = await askConfirm({
    title: 'Delete this session?',
    text: `“${title}” goes with its log, files and terminals. This cannot be undone.`,
    verb: 'Delete',
    danger: true,
  });
  if (sure) await client.sessions.remove(id);
}

export const fileName = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60) || 'session';
