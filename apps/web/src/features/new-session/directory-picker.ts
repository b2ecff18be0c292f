/** Of the File System Access API, which TypeScript’s library lacks because only Chromium has it. */
declare global {
  interface Window {
    showDirectoryPicker?(options: { id: string; mode: 'read' }): Promise<FileSystemDirectoryHandle>;
  }
  interface FileSystemHandle {
    requestPermission?(options: { mode: 'read' }): Promise<PermissionState>;
  }
}

/** Lets the user choose a folder; undefined if they close the dialog. */
export async function pickDirectory(
  show: NonNullable<Window['showDirectoryPicker']>,
): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    return await show.call(window, { id: 'workspace', mode: 'read' });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined;
    throw error;
  }
}

/** Asks the user, unless they have allowed it before. */
export const mayRead = async (handle: FileSystemHandle): Promise<boolean> =>
  (await handle.requestPermission?.({ mode: 'read' })) === 'granted';

/** Lets the user choose a folder in any browser, which then lists all of its files at once. */
export function pickFiles(onFiles: (files: File[]) => void): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.webkitdirectory = true;
  input.addEventListener('change', () => onFiles([...(input.files ?? [])]));
  input.click();
}
