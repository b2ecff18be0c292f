import { pluralText, type OperationName, type OperationRequest } from '@belay/protocol';
import { ensureSandbox } from '@/features/session-controls/use-can-act';
import { showFile } from '@/lib/panel-links';
import { askConfirm, askText } from '@/lib/ask';
import { toBase64 } from '@/lib/base64';
import { downloadFile } from '@/lib/download-file';
import { client } from '@/lib/server';
import { attempt, toast } from '@/lib/toasts';
import { allBytes } from './file-content';
import { baseName, type TreeNode } from '@/lib/file-tree';

const largestUpload = 50 * 1_048_576;

export type FileActions = ReturnType<typeof fileActions>;

interface Listeners {
  /** The list of files has changed. */
  changed(): void;
  /** A file or folder was renamed, moved or deleted. */
  gone(path: string): void;
}

/** Downloads a file. */
export const saveFile = (session: string, path: string): void =>
  attempt(async () =>
    downloadFile(baseName(path), await allBytes(session, path), 'application/octet-stream'),
  );

/** The user’s actions on workspace files. Each change is an event that the agent can read. */
export function fileActions(session: string, { changed, gone }: Listeners) {
  const call = async <N extends OperationName>(operation: N, input: OperationRequest<N>) => {
    await ensureSandbox(session);
    await client.sessions.call(session, operation, input);
    changed();
  };
  return {
    save: (path: string) => saveFile(session, path),
    copyPath: (path: string) => attempt(() => navigator.clipboard.writeText(path), 'Path copied.'),
    create: (folder: string) =>
      attempt(async () => {
        const path = await askText({
          title: 'New file',
          label: 'Path; folders are created as needed',
          value: folder && `${folder}/`,
          verb: 'Create',
        });
        if (!path) return;
        await call('files.write', { path, content: '', version: null });
        showFile(path);
      }),
    rename: ({ path, kind }: TreeNode) =>
      attempt(async () => {
        const to = await askText({
          title: 'Rename or move',
          label: 'Path',
          value: path,
          verb: 'Rename',
        });
        if (!to || to === path) return;
        await call('files.move', { from: path, to });
        gone(path);
        if (kind === 'file') showFile(to);
      }),
    remove: ({ path, kind }: TreeNode) =>
      attempt(async () => {
        const folder = kind === 'folder';
        const sure = await askConfirm({
          title: `Delete ${baseName(path)}?`,
          text: folder
            ? 'The folder and everything in it are deleted. The history keeps what was there.'
            : 'The history keeps what was there.',
          verb: 'Delete',
          danger: true,
        });
        if (!sure) return;
        await call('files.remove', { path, recursive: folder });
        gone(path);
      }),
    upload: (folder: string, files: readonly File[]) =>
      attempt(async () => {
        const fitting = files.filter(({ size }) => size <= largestUpload);
        for (const file of fitting)
          await call('files.write', {
            path: folder ? `${folder}/${file.name}` : file.name,
            content: toBase64(new Uint8Array(await file.arrayBuffer())),
            encoding: 'base64',
          });
        if (fitting.length) toast(`Uploaded ${pluralText(fitting.length, 'file')}.`);
        if (fitting.length < files.length) toast('Files over 50 MB were left out.');
      }),
  };
}
