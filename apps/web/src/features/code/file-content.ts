import { queryOptions } from '@tanstack/react-query';
import { AppError } from '@belay/protocol';
import { client } from '@/lib/server';
import type { FilePage } from './files-query';

const largest = 2 * 1_048_576;

export interface FileContent {
  text: string;
  binary: boolean;
}

interface Version {
  session: string;
  path: string;
  /** A new number means that the file may have changed. */
  edit: number;
  /** The commit to show it at; null is as it is now. */
  commit: string | null;
}

/** The text of a file, as it is or as it was at a commit. */
export const fileQuery = ({ session, path, edit, commit }: Version) =>
  queryOptions({
    queryKey: ['file', session, path, commit ?? edit],
    queryFn: () => (commit ? readAt(session, path, commit) : read(session, path)),
    placeholderData: (before: FileContent | undefined, query) =>
      query?.queryKey[2] === path ? before : undefined,
    staleTime: Infinity,
    retry: 0,
  });

/** Reads bytes, not lines: what is saved again must not lose its last line end. */
async function read(session: string, path: string): Promise<FileContent> {
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
      throw new AppError('too_large', 'This file is over 2 MB. Read it in a terminal instead.');
    parts.push(fromBase64(page.content));
    offset = page.next;
  }
  return textOrBinary(await new Blob(parts).text());
}

async function readAt(session: string, path: string, commit: string): Promise<FileContent> {
  const shown = (await client.sessions.call(session, 'workspace.show', { commit, path })) as {
    content: string;
    encoding: 'utf8' | 'base64';
  };
  return shown.encoding === 'base64' ? { text: '', binary: true } : textOrBinary(shown.content);
}

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

const textOrBinary = (text: string): FileContent =>
  text.includes('\0') ? { text: '', binary: true } : { text, binary: false };
