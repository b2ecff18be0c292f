import { queryOptions, type QueryKey } from '@tanstack/react-query';
import { AppError, errorFrom, type EventArgs } from '@belay/protocol';
import type { FilePage } from '@/features/session-files/files-query';
import { fromBase64 } from '@/lib/base64';
import { client } from '@/lib/server';
import { applyEdit } from './apply-edit';

const largestShown = 2 * 1_048_576;
const largestSaved = 200 * 1_048_576;

export interface TextFile {
  kind: 'text';
  text: string;
  /** Null if it is unknown, and for a file at a commit. */
  version: string | null;
}

/** A file as the code panel can show it. */
export type FileContent =
  | TextFile
  | { kind: 'image'; bytes: Uint8Array<ArrayBuffer>; type: string }
  /** `why` is a message for the user. */
  | { kind: 'other'; why: string };

const tooLarge = 'too_large';

interface Version {
  session: string;
  path: string;
  /** A new number means that the file may have changed. */
  edit: number;
  /** The edit that resulted in this version, if it is known to be the last one. */
  landed: EventArgs<'code'> | null;
  /** The commit at which to show the file; null for its current version. */
  commit: string | null;
}

/** Queries the content of a file: the current one, or that at a commit. */
export const fileQuery = ({ session, path, edit, landed, commit }: Version) =>
  queryOptions({
    queryKey: ['file', session, path, commit ?? edit],
    queryFn: async ({ client: cache, queryKey }): Promise<FileContent> => {
      if (commit)
        return contentOf(path, { bytes: await bytesAt(session, path, commit), version: null });
      // A repeated query means that the cached content is outdated.
      if (cache.getQueryData(queryKey)) return shownContent(session, path);
      const known = cache.getQueriesData<FileContent>({ queryKey: ['file', session, path] });
      const before = newestOf(known);
      const text = before?.kind === 'text' && landed ? await applyEdit(before, landed) : undefined;
      return text ? { kind: 'text', ...text } : shownContent(session, path);
    },
    placeholderData: (before: FileContent | undefined, query) =>
      query?.queryKey[2] === path ? before : undefined,
    staleTime: Infinity,
    retry: 0,
  });

/** The most recent content of a file that is not at a commit. */
function newestOf(known: readonly [QueryKey, FileContent | undefined][]): FileContent | undefined {
  const read = known.filter(([key, content]) => content && typeof key[3] === 'number');
  return read.toSorted(([a], [b]) => Number(b[3]) - Number(a[3]))[0]?.[1];
}

async function shownContent(session: string, path: string): Promise<FileContent> {
  try {
    return contentOf(path, await readWhole(session, path, largestShown));
  } catch (error) {
    if (errorFrom(error).code !== tooLarge) throw error;
    return { kind: 'other', why: `This file is over ${largestShown / 1_048_576} MB.` };
  }
}

/** All bytes of a file, for a download. */
export const allBytes = async (session: string, path: string): Promise<Uint8Array<ArrayBuffer>> =>
  (await readWhole(session, path, largestSaved)).bytes;

interface FileBytes {
  bytes: Uint8Array<ArrayBuffer>;
  /** From the first page: if the file changes while the rest is read, its version differs. */
  version: string | null;
}

/** Reads bytes instead of lines, so that saving the file does not lose its last line ending. */
async function readWhole(session: string, path: string, largest: number): Promise<FileBytes> {
  let version: string | null = null;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let offset: number | null = 0;
  while (offset !== null) {
    const page: FilePage = await client.sessions.call(session, 'files.read', {
      path,
      encoding: 'base64',
      offset,
      limit: 200_000,
    });
    if (page.size > largest)
      throw new AppError(
        tooLarge,
        `This file is over ${largest / 1_048_576} MB. Read it in a terminal instead.`,
      );
    if (offset === 0) version = page.version;
    parts.push(fromBase64(page.content));
    offset = page.next;
  }
  return { bytes: new Uint8Array(await new Blob(parts).arrayBuffer()), version };
}

async function bytesAt(
  session: string,
  path: string,
  commit: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const shown = await client.sessions.call(session, 'workspace.show', { commit, path });
  return shown.encoding === 'base64'
    ? fromBase64(shown.content)
    : new TextEncoder().encode(shown.content);
}

const imageTypes: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
};

function contentOf(path: string, { bytes, version }: FileBytes): FileContent {
  const type = imageTypes[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
  if (type) return { kind: 'image', bytes, type };
  if (bytes.includes(0)) return { kind: 'other', why: 'This is a binary file.' };
  try {
    // A byte order mark is kept, so that saving the file does not lose it.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { kind: 'text', text, version };
  } catch {
    return { kind: 'other', why: 'This file is not UTF-8. Edit it in a terminal.' };
  }
}
