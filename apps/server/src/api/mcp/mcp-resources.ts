import { isUtf8 } from 'node:buffer';
import { Injectable } from '@nestjs/common';
import { AppError, sessionSummary, type Event, type OperationOutput } from '@belay/protocol';
import type { ReadResourceResult, Resource } from '@modelcontextprotocol/sdk/types.js';
import { assertMay, type Caller } from '../../access/caller.js';
import { DirectCalls } from '../../actions/direct-calls.js';
import { BlobStore, type StoredBlob } from '../../logs/blob-store.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { SessionService } from '../../sessions/session.service.js';
import { NamedCalls } from '../commands/named-calls.js';

/** The number of sessions whose logs are listed; templates cover the others. */
const maxListed = 50;
/** Characters of one resource, or bytes of a file; tools can read further parts. */
const maxCharacters = 1_000_000;
/** The most that one call reads. */
const pageBytes = 150_000;
const maxEvents = 1_000;

export const resourceTemplates = [
  {
    uriTemplate: 'belay://sessions/{session}/files/{+path}',
    name: 'file',
    title: 'A file of a workspace',
    description: 'A file by its path in the workspace, read in the sandbox.',
  },
  {
    uriTemplate: 'belay://sessions/{session}/log{?after}',
    name: 'log',
    title: 'The log of a session',
    description: `One JSON event per line, after the given number; at most ${maxEvents} events.`,
    mimeType: 'application/jsonl',
  },
  {
    uriTemplate: 'belay://sessions/{session}/terminals/{terminal}',
    name: 'terminal',
    title: 'What a terminal printed',
    description: 'The last million bytes, escape sequences included.',
    mimeType: 'text/plain',
  },
  {
    uriTemplate: 'belay://sessions/{session}/blobs/{blob}',
    name: 'blob',
    title: 'A file in a result',
    description: 'A picture or another file that a call in the session returned, by its id.',
  },
];

/** Files and logs of sessions as MCP resources. */
@Injectable()
export class McpResources {
  constructor(
    private readonly sessions: SessionService,
    private readonly operations: NamedCalls,
    private readonly terminals: TerminalLog,
    private readonly blobs: BlobStore,
    private readonly direct: DirectCalls,
  ) {}

  async list(caller: Caller): Promise<Resource[]> {
    const sessions = await this.sessions.list(caller);
    return sessions
      .filter(({ archived }) => !archived)
      .slice(0, maxListed)
      .map(({ id, title, state }) => ({
        uri: `belay://sessions/${id}/log`,
        name: `log of ${id}`,
        title,
        description: `The log of the session “${title}”, which is ${state}.`,
        mimeType: 'application/jsonl',
      }));
  }

  async read(
    caller: Caller,
    uri: string,
    signal: AbortSignal,
  ): Promise<ReadResourceResult['contents']> {
    const called = /^belay:\/\/calls\/blobs\/(\w{1,100})$/.exec(uri)?.[1];
    if (called !== undefined) return [await this.#blob({ caller, session: '', blob: called, uri })];
    const { session, kind, rest, after } = addressOf(uri);
    assertMay(caller, 'view', session);
    sessionSummary.parse(await this.sessions.summary(session));
    if (kind === 'log') {
      const events = await this.sessions.events(session, { after, limit: maxEvents });
      return [{ uri, mimeType: 'application/jsonl', text: linesOf(events) }];
    }
    if (kind === 'terminals') {
      const size = await this.terminals.size(session, rest);
      const from = Math.max(0, size - maxCharacters);
      const bytes = await this.terminals.read(session, rest, from, size);
      return [{ uri, mimeType: 'text/plain', text: bytes.toString('utf8') }];
    }
    if (kind === 'blobs') return [await this.#blob({ caller, session, blob: rest, uri })];
    return [await this.#file({ caller, session, path: rest, uri, signal })];
  }

  /** Read as bytes, because lines are cut where they are long. */
  async #file({ caller, session, path, uri, signal }: FileRequest): Promise<Contents> {
    const pages: Buffer[] = [];
    let size = 0;
    for (let offset: number | null = 0; offset !== null;) {
      const input = { session, path, encoding: 'base64', offset, limit: pageBytes };
      const call = { name: 'files.read', input, signal } as const;
      const page: OperationOutput<'files.read'> = await this.operations.call(caller, call);
      pages.push(Buffer.from(page.content, 'base64'));
      size += pages.at(-1)?.length ?? 0;
      if (size > maxCharacters) throw tooLong(path);
      offset = page.next;
    }
    return contentsOf(uri, Buffer.concat(pages));
  }

  async #blob({ caller, session, blob, uri }: BlobRequest): Promise<Contents> {
    if (session === '') this.direct.requireOwn(caller, blob);
    const { type, bytes } = await storedFile(this.blobs, session, blob);
    return contentsOf(uri, bytes, type);
  }
}

type Contents = ReadResourceResult['contents'][number];

interface BlobRequest {
  caller: Caller;
  session: string;
  blob: string;
  uri: string;
}

/** As text if it is UTF-8; the type is that of a stored file. */
function contentsOf(uri: string, bytes: Buffer, type?: string): Contents {
  const isText = type === undefined || type.startsWith('text/');
  if (isText && isUtf8(bytes) && !bytes.includes(0))
    return { uri, mimeType: type ?? 'text/plain', text: bytes.toString('utf8') };
  const mimeType = type ?? 'application/octet-stream';
  return { uri, mimeType, blob: bytes.toString('base64') };
}

/** A file in a call’s result; without a session, the caller must be the one that got it. */
export const storedFile = (blobs: BlobStore, session: string, blob: string): Promise<StoredBlob> =>
  session === '' ? blobs.get(blob) : blobs.getOf(session, blob);

/** The address of a file in a call’s result; without a session, only the same caller can read it. */
export const blobUri = (session: string, blob: string): string =>
  session === '' ? `belay://calls/blobs/${blob}` : `belay://sessions/${session}/blobs/${blob}`;

interface FileRequest {
  caller: Caller;
  session: string;
  path: string;
  uri: string;
  signal: AbortSignal;
}

const kinds = ['log', 'files', 'terminals', 'blobs'] as const;

interface Address {
  session: string;
  kind: (typeof kinds)[number];
  rest: string;
  after: number;
}

const pattern =
  /^belay:\/\/sessions\/([\w-]{1,200})\/(?:(log)(?:\?after=(\d{1,15}))?|(files|terminals|blobs)\/(.{1,12000}))$/s;

function addressOf(uri: string): Address {
  const [, session = '', log, after = '0', folder, rest = ''] = pattern.exec(uri) ?? [];
  const kind = kinds.find((one) => one === (log ?? folder));
  if (!kind) throw noResource(uri);
  try {
    return { session, kind, rest: decodeURIComponent(rest), after: Number(after) };
  } catch {
    throw noResource(uri);
  }
}

const noResource = (uri: string): AppError =>
  new AppError(
    'not_found',
    `There is no resource ${uri.slice(0, 200)}. Use belay://sessions/SESSION/files/PATH or belay://sessions/SESSION/log.`,
  );

const tooLong = (path: string): AppError =>
  new AppError(
    'too_large',
    `${path} is too long for a resource. Read it in pages with files_read.`,
  );

function linesOf(events: readonly Event[]): string {
  let text = '';
  for (const event of events) {
    const line = `${JSON.stringify(event)}\n`;
    if (text.length + line.length > maxCharacters && text !== '') break;
    text += line;
  }
  return text;
}
