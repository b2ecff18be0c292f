import { queryOptions } from '@tanstack/react-query';
import { AppError } from '@belay/protocol';
import { fromBase64 } from '@/lib/base64';
import { client } from '@/lib/server';
import type { FilePage } from './files-query';

const largestShown = 2 * 1_048_576;
const largestSaved = 200 * 1_048_576;

/** What the code panel can show of a file. */
export type FileContent =
  | { kind: 'text'; text: string }
  | { kind: 'image'; bytes: Uint8Array<ArrayBuffer>; type: string }
  /** `why` is a sentence for the person. */
  | { kind: 'other'; why: string };

interface Version {
  session: string;
  path: string;
  /** A new number means that the file may have changed. */
  edit: number;
  /** The commit to show it at; null is as it is now. */
  commit: string | null;
}

/** A file, as it is or as it was at a commit. */
export const fileQuery = ({ session, path, edit, commit }: Version) =>
  queryOptions({
    queryKey: ['file', session, path, commit ?? edit],
    queryFn: async () =>
      contentOf(
        path,
        commit ? await bytesAt(session, path, commit) : await bytesOf(session, path, largestShown),
      ),
    placeholderData: (before: FileContent | undefined, query) =>
      query?.queryKey[2] === path ? before : undefined,
    staleTime: Infinity,
    retry: 0,
  });

/** All bytes of a file, for the person to keep. */
export const wholeFile = (session: string, path: string): Promise<Uint8Array<ArrayBuffer>> =>
  bytesOf(session, path, largestSaved);

/** Reads bytes, not lines: what is saved again must not lose its last line end. */
async function bytesOf(
  session: string,
  path: string,
  largest: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let offset: number | null = 0;
  while (offset !== null) {
    const page = (await client.sessions.call(session, 'files.read', {
      path,
      encoding: 'base64',
      offset,
      limit: 200_000,
    })) as FilePage;
    if (page.size > largest)
      throw new AppError(
        'too_large',
        `This file is over ${largest / 1_048_576} MB. Read it in a terminal instead.`,
      );
    parts.push(fromBase64(page.content));
    offset = page.next;
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

async function bytesAt(
  session: string,
  path: string,
  commit: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const shown = (await client.sessions.call(session, 'workspace.show', { commit, path })) as {
    content: string;
    encoding: 'utf8' | 'base64';
  };
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

function contentOf(path: string, bytes: Uint8Array<ArrayBuffer>): FileContent {
  const type = imageTypes[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
  if (type) return { kind: 'image', bytes, type };
  if (bytes.includes(0)) return { kind: 'other', why: 'It is a binary file.' };
  try {
    // The mark at the beginning is part of what is saved again.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { kind: 'text', text };
  } catch {
    return { kind: 'other', why: 'It is not UTF-8. Use a terminal to change it.' };
  }
}
