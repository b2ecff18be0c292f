import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { AppError, errorFrom } from '@belay/protocol';
import type { Address } from '@belay/client';
import { z } from 'zod';
import { clientOf } from './connection.js';
import type { EditorFolders } from './editor-folders.js';
import { singleLine } from './output.js';
import { secretsWarning } from './workspace/left-out.js';
import { appliedSentence } from './workspace/outward-links.js';
import { packWorkspace } from './workspace/pack-workspace.js';
import { checkedFolder, planWorkspace, type WorkspacePlan } from './workspace/plan-workspace.js';

const message = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string().optional(),
  params: z.looseObject({}).optional(),
  result: z.looseObject({}).nullish(),
});
type Message = z.output<typeof message>;

const opening = z.looseObject({
  cwd: z.string(),
  sessionId: z.string().optional(),
  _meta: z.looseObject({}).nullish(),
});
const prompting = z.looseObject({
  sessionId: z.string(),
  _meta: z.looseObject({}).nullish(),
});
const ending = z.object({ sessionId: z.string() });
const listing = z.object({ cwd: z.string().nullish() });
const listed = z.object({ sessions: z.array(z.looseObject({ sessionId: z.string() })) });

/** A request that the server has, and what its response is needed for. */
type Awaited =
  | { kind: 'new'; path: string }
  /** With `sent` for a first prompt: the folder that goes with it. */
  | { kind: 'changes'; session: string; sent?: string }
  | { kind: 'list'; cwd: string | null | undefined };

export interface AcpBridgeOptions {
  address: Address & { token: string };
  folders: EditorFolders;
  model: string | undefined;
  /** Whether changes are written to the editor’s folder after each prompt. */
  apply: boolean;
  write: (line: string) => void;
}

/** Forwards ACP messages, and handles what the server cannot: it reads and writes the editor’s folder. */
export class AcpBridge {
  /** The folders of new sessions, whose first prompt sends the files. */
  readonly #unsent = new Map<string, string>();
  readonly #awaited = new Map<string | number, Awaited>();
  /** Sessions whose files are being sent. */
  readonly #sending = new Map<string, AbortController>();
  /** Resolves when the latest changes are in their folder; a prompt would stop the sandbox that they come from. */
  #taking = Promise.resolve();

  constructor(private readonly options: AcpBridgeOptions) {}

  /** Resolves when the editor has ended; rejects with `unavailable` if the server has, or cannot be reached. */
  async run(input: Readable): Promise<void> {
    const { url, token } = this.options.address;
    // Node’s client accepts headers in place of the protocols; browsers do not.
    const more = { headers: { authorization: `Bearer ${token}` } } as unknown as string[];
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/acp`, more);
    const ended = Promise.withResolvers<AppError | undefined>();
    const opened = Promise.withResolvers<void>();
    socket.onopen = () => opened.resolve();
    socket.onerror = () => opened.reject(unreachable(url));
    socket.onclose = ({ reason }) => ended.resolve(connectionLost(url, reason));
    // Processed in order, because a response may have to wait for the folder.
    let answers = Promise.resolve();
    socket.onmessage = ({ data }) => {
      answers = answers.then(() => this.#fromServer(String(data)));
    };
    await opened.promise;
    let asked = Promise.resolve();
    const lines = createInterface({ input });
    lines.on('line', (line) => {
      if (line.trim() === '') return;
      const json = parsed(line);
      if (!json) return this.#write(unreadable);
      const read = messageIn(json);
      if (read) this.#noticeEnd(read);
      asked = asked.then(async () => {
        // The server answers JSON that is not a message, with its id.
        const passed = read ? await this.#fromEditor(line, read) : line;
        if (passed !== undefined) socket.send(passed);
      });
    });
    lines.once('close', () => {
      for (const sending of this.#sending.values()) sending.abort();
      void asked.then(() => ended.resolve(undefined));
    });
    const lost = await ended.promise;
    await answers;
    socket.close();
    lines.close();
    input.destroy();
    if (lost) throw lost;
  }

  /** The end of a prompt must not wait for its files. */
  #noticeEnd({ method, params }: Message): void {
    if (method !== 'session/cancel' && method !== 'session/close') return;
    this.#sending.get(ending.safeParse(params).data?.sessionId ?? '')?.abort();
  }

  /** The part of a line that goes to the server; undefined if the line was handled here. */
  async #fromEditor(line: string, read: Message): Promise<string | undefined> {
    const { id } = read;
    if (id === undefined || id === null) return line;
    try {
      const passed = await this.#request(read, id);
      return passed && JSON.stringify(passed);
    } catch (error) {
      const { message: words, code } = errorFrom(error);
      const failure = { code: -32_602, message: words, data: { code } };
      this.#write({ jsonrpc: '2.0', id, error: failure });
      return undefined;
    }
  }

  async #request(read: Message, id: string | number): Promise<Message | undefined> {
    switch (read.method) {
      case 'session/new':
        return this.#new(read, id);
      case 'session/load':
      case 'session/resume': {
        const { cwd, sessionId = '' } = opening.parse(read.params);
        const path = await checkedFolder(cwd);
        if (this.options.apply) await this.options.folders.reopen(sessionId, path);
        this.#awaited.set(id, { kind: 'changes', session: sessionId });
        return read;
      }
      case 'session/list':
        this.#awaited.set(id, { kind: 'list', cwd: listing.parse(read.params ?? {}).cwd });
        return read;
      case 'session/prompt':
        return this.#prompt(read, id);
      default:
        return read;
    }
  }

  async #new(read: Message, id: string | number): Promise<Message> {
    const params = opening.parse(read.params);
    this.#awaited.set(id, { kind: 'new', path: await checkedFolder(params.cwd) });
    const { model } = this.options;
    const belay = model === undefined ? {} : { model };
    return { ...read, params: { ...params, _meta: { belay, ...params._meta } } };
  }

  /** A session’s first prompt also sends the folder. */
  async #prompt(read: Message, id: string | number): Promise<Message | undefined> {
    const params = prompting.parse(read.params);
    const { sessionId: session } = params;
    await this.#taking;
    const path = this.#unsent.get(session);
    if (path === undefined) {
      this.#awaited.set(id, { kind: 'changes', session });
      return read;
    }
    const workspace = await this.#sent(session, path);
    if (workspace === undefined) {
      this.#write({ jsonrpc: '2.0', id, result: { stopReason: 'cancelled' } });
      return undefined;
    }
    this.#unsent.delete(session);
    this.options.folders.begin(session, path);
    this.#awaited.set(id, { kind: 'changes', session, sent: path });
    return { ...read, params: { ...params, _meta: { belay: { workspace }, ...params._meta } } };
  }

  /** The id of the uploaded folder; undefined if the prompt was cancelled meanwhile. */
  async #sent(session: string, path: string): Promise<string | undefined> {
    const sending = new AbortController();
    this.#sending.set(session, sending);
    const { signal } = sending;
    try {
      const plan = await planWorkspace(path, { signal });
      const warning = secretsWarning(plan.secrets);
      if (warning) this.#say(session, `${singleLine(warning, Infinity)}\n\n`);
      const workspace = await this.#upload(plan, signal);
      for (const sentence of plan.leftOut.sentences())
        this.#say(session, `${singleLine(sentence, Infinity)}\n\n`);
      return signal.aborted ? undefined : workspace;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    } finally {
      this.#sending.delete(session);
    }
  }

  async #upload(plan: WorkspacePlan, signal: AbortSignal): Promise<string> {
    const abortable = (url: string, init: RequestInit) => fetch(url, { ...init, signal });
    const client = clientOf({ ...this.options.address, fetch: abortable });
    const { workspace } = await client.uploads.workspace(packWorkspace(plan));
    return workspace;
  }

  async #fromServer(text: string): Promise<void> {
    const read = messageIn(parsed(text));
    const id = read?.id ?? undefined;
    const awaited = id !== undefined && !read?.method ? this.#awaited.get(id) : undefined;
    if (!read || !awaited || id === undefined) return this.options.write(`${text}\n`);
    this.#awaited.delete(id);
    if (awaited.kind === 'changes') {
      // A refused first prompt has begun nothing: the next one begins the session.
      if (!read.result && awaited.sent !== undefined)
        this.#unsent.set(awaited.session, awaited.sent);
      return this.#afterChanges(read, text, awaited.session);
    }
    if (awaited.kind === 'list') return this.#write(this.#withFolders(read, awaited.cwd));
    const { sessionId } = read.result ?? {};
    if (typeof sessionId === 'string') this.#unsent.set(sessionId, awaited.path);
    this.options.write(`${text}\n`);
  }

  /** The response of a prompt or a load, with the changes that belong to it. */
  async #afterChanges(read: Message, text: string, session: string): Promise<void> {
    const isCancelled = read.result?.['stopReason'] === 'cancelled';
    // The sandbox of a cancelled prompt has to be started again, which the editor does not wait for.
    if (isCancelled) this.options.write(`${text}\n`);
    if (read.result) this.#taking = this.#takeChanges(session);
    await this.#taking;
    if (!isCancelled) this.options.write(`${text}\n`);
  }

  /** Only sessions whose folder is known can be opened in an editor. */
  #withFolders(response: Message, cwd: string | null | undefined): Message {
    const { data } = listed.safeParse(response.result);
    if (!data) return response;
    const sessions = data.sessions.flatMap((session) => {
      const path = this.options.folders.of(session.sessionId)?.path;
      const isHere = path !== undefined && (cwd ?? path) === path;
      return isHere ? [{ ...session, cwd: path }] : [];
    });
    return { ...response, result: { ...response.result, sessions } };
  }

  /** Writes the session’s changes to the folder; a failure becomes a message in the editor. */
  async #takeChanges(session: string): Promise<void> {
    const { apply, folders } = this.options;
    if (!apply) return;
    try {
      const links = await folders.takeChanges(session);
      const path = folders.of(session)?.path;
      if (path !== undefined && links.length > 0) this.#say(session, appliedSentence(path, links));
    } catch (error) {
      const text = `The changes are not in ${folders.of(session)?.path ?? 'the folder'} yet: ${errorFrom(error).message} They are tried again after the next prompt, and when the session is loaded again. To see them: belay patch ${session}`;
      this.#say(session, text);
    }
  }

  #say(session: string, text: string): void {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
    const params = { sessionId: session, update };
    this.#write({ jsonrpc: '2.0', method: 'session/update', params });
  }

  #write(value: object): void {
    this.options.write(`${JSON.stringify(value)}\n`);
  }
}

type Json = { value: unknown } | undefined;

const messageIn = (json: Json): Message | undefined => message.safeParse(json?.value).data;

/** Undefined for text that is not JSON. */
function parsed(text: string): Json {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

const unreadable = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_700, message: 'Send one JSON-RPC message per line.' },
};

const connectionLost = (url: string, reason: string): AppError =>
  new AppError(
    'unavailable',
    `The Belay server at ${url} has ended the connection${reason && `: ${reason}`}. Start the agent again in the editor.`,
  );

const unreachable = (url: string): AppError =>
  new AppError(
    'unavailable',
    `The Belay server at ${url} does not answer or rejects the token. Start one with: belay up, or set BELAY_TOKEN to its token.`,
  );
