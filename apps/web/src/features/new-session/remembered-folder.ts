import { ignoreError } from '@belay/protocol';

const [database, store, key] = ['belay', 'folders', 'workspace'];

/** The folder of the last session, if the browser can keep it. It asks the user before it is read again. */
export const rememberedFolder = (): Promise<FileSystemDirectoryHandle | undefined> =>
  inStore('readonly', (folders) => folders.get(key)).catch(ignoreError('none is kept'));

/** Does nothing in a browser that cannot keep it. */
export async function rememberFolder(folder: FileSystemDirectoryHandle): Promise<void> {
  await inStore('readwrite', (folders) => folders.put(folder, key)).catch(
    ignoreError('the browser cannot keep it'),
  );
}

/** `localStorage` has only text; a folder can be kept only in a database. */
async function inStore<T>(
  mode: IDBTransactionMode,
  work: (folders: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const opening = indexedDB.open(database);
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(store));
  const opened = await settled(opening);
  try {
    return await settled(work(opened.transaction(store, mode).objectStore(store)));
  } finally {
    opened.close();
  }
}

const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('It failed.')));
  });
