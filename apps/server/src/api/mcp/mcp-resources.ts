import { Injectable } from '@nestjs/common';
import { AppError, sessionSummary, type Event } from '@belay/protocol';
import type { ReadResourceResult, Resource } from '@modelcontextprotocol/sdk/types.js';
import { assertMay, type Caller } from '../../access/caller.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { Dispatcher } from '../../sessions/dispatcher.js';
import { SessionService } from '../../sessions/session.service.js';

/** The number of sessions whose logs are listed; templates cover the others. */
const maxListed = 50;
/** Characters of one resource; tools can read further parts. */
const maxCharacters = 1_000_000;
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
];

/** Files and logs of sessions as MCP resources. */
@Injectable()
export class McpResources {
  constructor(
    private readonly sessions: SessionService,
    private readonly dispatcher: Dispatcher,
    private readonly terminals: TerminalLog,
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
    return [await this.#file({ caller, session, path: rest, uri, signal })];
  }

  async #file({ caller, session, path, uri, signal }: FileRequest) {
    const read = (input: object) =>
      this.dispatcher.call(
        session,
        { name: 'files.read', input: { path, ...input }, caller },
        signal,
      );
    try {
      let text = '';
      for (let from: number | null = 1; from !== null;) {
        const page: { content: string; next: number | null } = await read({ from });
        text += page.content;
        from = page.next;
        if (text.length > maxCharacters) throw tooLong(path);
      }
      return { uri, mimeType: 'text/plain', text };
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'invalid_input')) throw error;
      // The file is not text.
      const page = await read({ encoding: 'base64', limit: maxCharacters });
      if (page.next !== null) throw tooLong(path);
      return { uri, mimeType: 'application/octet-stream', blob: page.content };
    }
  }
}

interface FileRequest {
  caller: Caller;
  session: string;
  path: string;
  uri: string;
  signal: AbortSignal;
}

interface Address {
  session: string;
  kind: 'files' | 'log' | 'terminals';
  rest: string;
  after: number;
}

const pattern =
  /^belay:\/\/sessions\/([\w-]{1,200})\/(?:(log)(?:\?after=(\d{1,15}))?|(files|terminals)\/(.{1,12000}))$/s;

function addressOf(uri: string): Address {
  const [, session = '', log, after = '0', folder, rest = ''] = pattern.exec(uri) ?? [];
  const kind = log ?? folder;
  if (kind !== 'log' && kind !== 'files' && kind !== 'terminals') throw noResource(uri);
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
