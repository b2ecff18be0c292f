import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { AppError, errorFrom } from '@belay/protocol';
import type { Address, BelayClient } from '@belay/client';
import { z } from 'zod';
import { appliedSentence } from './workspace/outward-links.js';
import { applyPatch } from './workspace/apply-patch.js';
import { packWorkspace } from './workspace/pack-workspace.js';
import { checkedFolder, planWorkspace } from './workspace/plan-workspace.js';

const message = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string().optional(),
  params: z.looseObject({}).optional(),
  result: z.looseObject({}).nullish(),
});
type Message = z.output<typeof message>;

const opening = z.object({ cwd: z.string(), sessionId: z.string().optional() });
const prompting = z.looseObject({
  sessionId: z.string(),
  _meta: z.looseObject({}).nullish(),
});

/** The editor’s folder of one session. */
interface EditorFolder {
  path: string;
  /** Whether the sandbox has its files. */
  sent: boolean;
  /** The step of the session’s history that was applied to the folder. */
  applied: string | undefined;
}

type Awaited = { kind: 'open'; path: string } | { kind: 'prompt'; session: string };

export interface AcpBridgeOptions {
  address: Address & { token: string };
  client: BelayClient;
  model: string | undefined;
  /** Whether changes are written to the editor’s folder after each prompt. */
  apply: boolean;
  write: (line: string) => void;
}

/** Forwards ACP messages, and handles what the server cannot: it reads and writes the editor’s folder. */
export class AcpBridge {
  readonly #folders = new Map<string, EditorFolder>();
  readonly #awaited = new Map<string | number, Awaited>();

  constructor(private readonly options: AcpBridgeOptions) {}

  /** Resolves when the editor or the server has ended; true if it was the server. */
  async run(input: Readable): Promise<boolean> {
    const { url, token } = this.options.address;
    // Node’s client accepts headers in place of the protocols; browsers do not.
    const more = { headers: { authorization: `Bearer ${token}` } } as unknown as string[];
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/acp`, more);
    const ended = Promise.withResolvers<boolean>();
    const opened = Promise.withResolvers<void>();
    socket.onopen = () => opened.resolve();
    socket.onerror = () => opened.reject(unreachable(url));
    socket.onclose = () => ended.resolve(true);
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
      asked = asked.then(async () => {
        const passed = await this.#fromEditor(line);
        if (passed !== undefined) socket.send(passed);
      });
    });
    lines.once('close', () => void asked.then(() => ended.resolve(false)));
    const lost = await ended.promise;
    await answers;
    socket.close();
    lines.close();
    input.destroy();
    return lost;
  }

  /** The part of a line that goes to the server; undefined if the line was handled here. */
  async #fromEditor(line: string): Promise<string | undefined> {
    const read = parsed(line);
    const id = read?.id;
    if (!read || id === undefined || id === null) return line;
    try {
      if (read.method === 'session/new' || read.method === 'session/load') {
        const { cwd, sessionId } = opening.parse(read.params);
        const path = await checkedFolder(cwd);
        if (sessionId !== undefined) await this.#reopen(sessionId, path);
        else this.#awaited.set(id, { kind: 'open', path });
      } else if (read.method === 'session/prompt') {
        return JSON.stringify(await this.#prompt(read, id));
      }
      return line;
    } catch (error) {
      const { message: words, code } = errorFrom(error);
      const failure = { code: -32_602, message: words, data: { code } };
      this.#write({ jsonrpc: '2.0', id, error: failure });
      return undefined;
    }
  }

  /** A session’s first prompt also sends the folder. */
  async #prompt(read: Message, id: string | number): Promise<Message> {
    const params = prompting.parse(read.params);
    const folder = this.#folders.get(params.sessionId);
    this.#awaited.set(id, { kind: 'prompt', session: params.sessionId });
    if (!folder || folder.sent) return read;
    const plan = await planWorkspace(folder.path);
    const tar = packWorkspace(plan, () => undefined);
    const { workspace } = await this.options.client.uploads.workspace(tar);
    folder.sent = true;
    const { model } = this.options;
    const belay = { workspace, ...(model !== undefined && { model }) };
    return { ...read, params: { ...params, _meta: { belay, ...params._meta } } };
  }

  async #fromServer(text: string): Promise<void> {
    const read = parsed(text);
    const id = read?.id ?? undefined;
    const awaited = id !== undefined && !read?.method ? this.#awaited.get(id) : undefined;
    if (read && awaited && id !== undefined) {
      this.#awaited.delete(id);
      const { sessionId } = read.result ?? {};
      if (awaited.kind === 'open' && typeof sessionId === 'string') {
        const { path } = awaited;
        this.#folders.set(sessionId, { path, sent: false, applied: undefined });
      } else if (awaited.kind === 'prompt') await this.#takeChanges(awaited.session);
    }
    this.options.write(`${text}\n`);
  }

  /** Reopens an earlier session: only later changes are written to the folder. */
  async #reopen(session: string, path: string): Promise<void> {
    const applied = this.options.apply ? await this.#newestStep(session) : undefined;
    this.#folders.set(session, { path, sent: true, applied });
  }

  async #newestStep(session: string): Promise<string | undefined> {
    const { sessions } = this.options.client;
    await sessions.wake(session);
    const { steps } = await sessions.call(session, 'workspace.log', { limit: 1 });
    return steps[0]?.commit;
  }

  /** Writes a turn’s changes to the folder, completely or not at all; a failure becomes a message in the editor. */
  async #takeChanges(session: string): Promise<void> {
    const folder = this.#folders.get(session);
    if (!folder?.sent || !this.options.apply) return;
    try {
      const commit = await this.#newestStep(session);
      if (commit === undefined || commit === folder.applied) return;
      const from = folder.applied;
      const span = { format: 'patch' as const, commit, ...(from !== undefined && { from }) };
      const patch = await this.options.client.sessions.export(session, span);
      const links = patch.length > 0 ? await applyPatch(folder.path, patch) : [];
      folder.applied = commit;
      if (links.length > 0) this.#say(session, appliedSentence(folder.path, links));
    } catch (error) {
      const text = `The changes are not in ${folder.path}: ${errorFrom(error).message} See: belay patch ${session}`;
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

function parsed(text: string): Message | undefined {
  try {
    return message.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // The server says what is wrong with it.
  }
}

const unreachable = (url: string): AppError =>
  new AppError(
    'unavailable',
    `The Belay server at ${url} does not answer or rejects the token. Start one with: belay up, or set BELAY_TOKEN to its token.`,
  );
