import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { AppError, errorFrom, type Assignment } from '@belay/protocol';
import type { AgentRope } from './agent-rope.js';
import type { MakeRooms } from './rooms.js';
import { Work } from './work.js';

export interface AgentOptions {
  rope: AgentRope;
  version: string;
  makeRooms: MakeRooms;
  /** Called once, when the server knows of the agent: what is done now delays no session. */
  prepare?(): void;
  /** Unpacks a tar archive into the workspace. */
  unpack(tar: Readable): Promise<void>;
}

/**
 * An agent at its end of the rope: says hello on each connection, waits for a session, and serves the calls of
 * the server. Resolves when it was told to shut down or the rope is gone for good; rejects when its work broke.
 */
export async function runAgent({
  rope,
  version,
  makeRooms,
  prepare,
  unpack,
}: AgentOptions): Promise<void> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  let work: Work | undefined;
  let beginning: Promise<void> = Promise.resolve();
  let importing: Promise<void> = Promise.resolve();

  const begin = async (assignment: Assignment): Promise<void> => {
    if (work?.session === assignment.session) return beginning;
    if (work) throw new AppError('conflict', `This agent works on session ${work.session}.`);
    work = new Work({ rope, assignment, makeRooms, onEnd: reject });
    beginning = importing.then(() => work?.begin());
    return beginning;
  };
  const working = async (): Promise<Work> => {
    await beginning;
    if (!work) throw new AppError('conflict', 'This agent has no session yet.');
    return work;
  };
  const terminals = async () => (await (await working()).rooms).terminals;

  rope.serve({
    async 'session.begin'(assignment) {
      await begin(assignment);
      return {};
    },
    async 'session.events'({ events }) {
      await work?.hear(events);
      return {};
    },
    async 'operation.call'({ id, ...call }, { signal }) {
      return { output: await (await working()).call(id, call, signal) };
    },
    async 'terminal.keys'({ terminal, data }) {
      (await terminals()).keys(terminal, data);
      return {};
    },
    async 'terminal.resize'({ terminal, columns, rows }) {
      (await terminals()).resize(terminal, columns, rows);
      return {};
    },
    async 'terminal.hold'({ terminal, holder }) {
      (await terminals()).hold(terminal, holder);
      return {};
    },
    async 'terminal.open'({ terminal }) {
      await (await terminals()).open(terminal);
      return {};
    },
    async 'browser.watch'({ watched }) {
      (await (await working()).rooms).watch(watched);
      return {};
    },
    async shutdown() {
      await work?.close();
      // The answer goes out before the rope does.
      setImmediate(resolve);
      return {};
    },
  });
  rope.accept('workspace.import', async (_, stream) => {
    // What breaks the stream breaks the unpacking, which says so.
    stream.on('error', () => undefined);
    importing = unpack(stream).then(() => void stream.end());
    importing.catch((error: unknown) => stream.destroy(errorFrom(error)));
  });
  rope.accept('workspace.export', async ({ format, commit }, stream) => {
    const current = await working();
    await current.recorded();
    const bytes = await (await current.rooms).history.export(format, commit);
    // A viewer that goes away in the middle breaks the stream, which is its affair alone.
    void pipeline(bytes, stream).catch(() => undefined);
  });

  let known = false;
  const hello = async (): Promise<void> => {
    const { session = null, epoch = 0 } = work ?? {};
    const lastSeq = work?.log.seen.others ?? 0;
    const answer = await rope.call('hello', { version, session, epoch, lastSeq });
    if (!known) prepare?.();
    known = true;
    if (answer.assignment) await begin(answer.assignment);
    await work?.hear(answer.events);
  };
  const greet = () => void hello().catch((error: unknown) => reject(errorFrom(error)));
  rope.on('connected', greet);
  rope.on('closed', () => resolve());
  if (rope.connected) greet();
  await ended;
}
