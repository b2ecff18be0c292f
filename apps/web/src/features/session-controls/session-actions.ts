import { isEnded, type SessionSummary } from '@belay/protocol';
import type { MenuItem } from '@/components/ui/menu';
import { askConfirm, askText } from '@/lib/ask';
import { download } from '@/lib/download';
import { fileName } from '@/lib/file-name';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { askFork } from './fork-request';
import { askPublish } from './publish-request';
import { askShare } from './share-request';

export const approvalModes = [
  { mode: 'safe', label: 'Ask me before every action', chip: 'Ask every time' },
  { mode: 'ask', label: 'Ask me each time', chip: 'Ask' },
  { mode: 'delay', label: 'Run calls after 2 s', chip: 'After 2 s' },
  { mode: 'auto', label: 'Run calls at once', chip: 'At once' },
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
    {
      label: 'History as a git bundle',
      hint: ended && !readOnly ? 'starts its sandbox' : '',
      run: () => attempt(() => save(session, 'bundle')),
    },
  ];
  if (readOnly) return exports;
  return [
    ended
      ? {
          label: 'Restart',
          run: () => attempt(() => client.sessions.restart(id), 'Restarting from its log.'),
        }
      : state === 'paused'
        ? { label: 'Resume', run: () => attempt(() => client.sessions.resume(id)) }
        : { label: 'Pause', run: () => attempt(() => client.sessions.pause(id)) },
    { label: 'Stop…', disabled: ended, run: () => attempt(() => askStop(id)) },
    { label: 'Fork…', run: () => askFork(session, session.lastSeq) },
    { label: 'Publish…', run: () => askPublish(session) },
    { label: 'Share…', run: () => askShare(session) },
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
      label: archived ? 'Unarchive' : 'Archive',
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

/** Stops a session once the user is sure: what its commands have not finished is lost. */
export async function askStop(id: string): Promise<void> {
  const sure = await askConfirm({
    title: 'Stop this session?',
    text: 'Its running commands end. Its log and files are kept: a message or a restart continues it.',
    verb: 'Stop',
    danger: true,
  });
  if (sure) await client.sessions.stop(id);
}

const exportTypes = {
  patch: 'text/x-diff',
  zip: 'application/zip',
  bundle: 'application/octet-stream',
};
type ExportFormat = keyof typeof exportTypes;

async function save({ id, title }: SessionSummary, format: ExportFormat): Promise<void> {
  const content = await client.sessions.export(id, { format });
  download(`${fileName(title)}.${format}`, content as BlobPart, exportTypes[format]);
}

async function rename({ id, title }: SessionSummary): Promise<void> {
  const chosen = await askText({ title: 'Rename', label: 'Name', value: title, verb: 'Rename' });
  if (chosen) await client.sessions.change(id, { title: chosen });
}

async function retag({ id, tags }: SessionSummary): Promise<void> {
  const label = 'Tags (comma-separated)';
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
