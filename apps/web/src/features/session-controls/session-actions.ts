import { approvalMode, isEnded, type SessionSummary } from '@belay/protocol';
import type { MenuItem } from '@/components/ui/menu';
import { downloadFile } from '@/lib/download-file';
import { fileName } from '@/lib/file-name';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { askFork } from './fork-request';
import { askPublish } from './publish-request';
import {
  approvalControls,
  archiveControl,
  runControl,
  sessionControls,
  type SessionControl,
} from './session-controls';
import { askShare } from './share-request';

/** The menu of a session. Read-only users may only export it. */
export function sessionActions(session: SessionSummary, readOnly: boolean): (MenuItem | null)[] {
  const ended = isEnded(session.state);
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
  const item = (control: SessionControl): MenuItem => ({
    label: control.opensDialog ? `${control.label}…` : control.label,
    disabled: !control.offered(session),
    run: () => runControl(control, session),
  });
  const { pause, resume, restart, stop, rename, retag, remove } = sessionControls;
  return [
    ...[restart, resume, pause].filter(({ offered }) => offered(session)).map(item),
    item(stop),
    { label: 'Fork…', run: () => askFork(session) },
    { label: 'Publish…', run: () => askPublish(session) },
    { label: 'Share…', run: () => askShare(session) },
    null,
    ...approvalMode.options
      .filter((mode) => mode !== session.approvals && !ended)
      .map((mode) => item(approvalControls[mode])),
    null,
    item(rename),
    item(retag),
    item(archiveControl(session)),
    null,
    ...exports,
    null,
    { ...item(remove), danger: true, hint: ended ? '' : 'stop it first' },
  ];
}

const exportTypes = {
  patch: 'text/x-diff',
  zip: 'application/zip',
  bundle: 'application/octet-stream',
};
type ExportFormat = keyof typeof exportTypes;

async function save({ id, title }: SessionSummary, format: ExportFormat): Promise<void> {
  const content = await client.sessions.export(id, { format });
  downloadFile(`${fileName(title)}.${format}`, content as BlobPart, exportTypes[format]);
}
