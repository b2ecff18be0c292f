import { pipeline } from 'node:stream/promises';
import type { Duplex, Readable } from 'node:stream';
import {
  AppError,
  errorFrom,
  ignoreError,
  type agentCalls,
  type CopyKind,
  type ServerService,
  type StartPayload,
  type StreamMeta,
} from '@belay/protocol';
import type { Servers } from '@belay/rpc';
import { connectPort } from './egress/connect-port.js';
import type { ServerConnection } from './server-connection.js';
import type { AgentServices, CreateServices } from './agent-services.js';
import type { HistoryCopies } from './history/history-copies.js';
import { SessionRun, type SessionRunOptions } from './session-run.js';

export interface AgentOptions {
  connection: ServerConnection;
  version: string;
  createServices: CreateServices;
  /** Aborts when the process is told to end: the agent then sends what is left, and ends. */
  ending?: AbortSignal | undefined;
  /** Called once, when the server knows the agent; from then on, preparation delays no session. */
  prepare?(): void;
  idle?: SessionRunOptions['idle'];
  /** Unpacks a tar archive into the workspace. */
  unpack(tar: Readable): Promise<void>;
  /** Unpacks copies of the session’s steps before it begins. */
  copies(): Promise<Pick<HistoryCopies, 'restorePart' | 'checkOut'>>;
  /** Runs a check command in the workspace. */
  check: Servers<typeof agentCalls>['check.run'];
}

/**
 * Runs an agent over its connection: sends hello on each new connection, waits for a session, and serves the server’s
 * calls. Resolves after a shutdown or when the connection is permanently closed; rejects when the session’s run
 * failed.
 */
export async function runAgent({
  connection,
  version,
  createServices,
  ending,
  prepare,
  idle,
  unpack,
  copies,
  check,
}: AgentOptions): Promise<void> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const given = { connection, createServices, onEnd: reject, idle };
  let run: SessionRun | undefined;
  let begun: Promise<void> = Promise.resolve();
  let imported: Promise<void> = Promise.resolve();
  let services: readonly ServerService[] = [];

  const begin = async (startPayload: StartPayload): Promise<void> => {
    if (run?.session === startPayload.session) return begun;
    if (run) throw new AppError('conflict', `This agent works on session ${run.session}.`);
    run = new SessionRun({ ...given, startPayload, services });
    begun = imported.then(() => run?.begin());
    return begun;
  };
  const currentRun = async (): Promise<SessionRun> => {
    await begun;
    if (!run) throw new AppError('conflict', 'This agent has no session yet.');
    return run;
  };

  ending?.addEventListener('abort', () => void Promise.resolve(run?.leave()).then(resolve, reject));

  connection.serve({
    async 'session.begin'(startPayload) {
      await begin(startPayload);
      return {};
    },
    async 'session.events'({ events }) {
      await run?.receive(events);
      return {};
    },
    async 'operation.call'({ id, ...call }, { signal }) {
      return { output: await (await currentRun()).call(id, call, signal) };
    },
    ...terminalCalls(async () => (await (await currentRun()).services).terminals),
    ...copyCalls(copies, currentRun),
    async 'browser.watch'({ watched }) {
      (await (await currentRun()).services).watch(watched);
      return {};
    },
    'check.run': check,
    async shutdown() {
      await run?.close();
      // The reply is sent before the connection closes.
      setImmediate(resolve);
      return {};
    },
  });
  connection.accept('workspace.import', async (_, stream) => {
    stream.on('error', ignoreError('the unpacking fails with it'));
    imported = unpack(stream).then(() => void stream.end());
    imported.catch((error: unknown) => stream.destroy(errorFrom(error)));
  });
  acceptStreams(connection, copies, currentRun);

  let known = false;
  const hello = async (): Promise<void> => {
    const { session = null, epoch = 0 } = run ?? {};
    const lastSeq = run?.log.seen.others ?? 0;
    const reply = await connection.call('hello', { version, session, epoch, lastSeq });
    services = reply.services;
    if (!known) prepare?.();
    known = true;
    if (reply.startPayload) await begin(reply.startPayload);
    await run?.receive(reply.events);
  };
  const sendHello = () => void hello().catch((error: unknown) => reject(errorFrom(error)));
  connection.on('connected', sendHello);
  // An agent that the server never admitted fails with the reason.
  connection.on('closed', () => (known ? resolve() : sendHello()));
  if (connection.connected) sendHello();
  await ended;
}

function acceptStreams(
  connection: ServerConnection,
  copies: AgentOptions['copies'],
  currentRun: () => Promise<SessionRun>,
): void {
  connection.accept('copies.restore', async ({ kind }, stream) =>
    restorePart(await copies(), kind, stream),
  );
  connection.accept('workspace.export', async (asked, stream) =>
    exportWorkspace(await currentRun(), asked, stream),
  );
  connection.accept('preview', ({ port }, stream) => connectPort(port, stream));
}

function terminalCalls(open: () => Promise<AgentServices['terminals']>) {
  const call =
    <I>(act: (terminals: AgentServices['terminals'], input: I) => unknown) =>
    async (input: I) => {
      await act(await open(), input);
      return {};
    };
  return {
    'terminal.keys': call((all, { terminal, data }) => all.keys(terminal, data)),
    'terminal.resize': call((all, { terminal, columns, rows }) =>
      all.resize(terminal, columns, rows),
    ),
    'terminal.hold': call((all, { terminal, holder }) => all.hold(terminal, holder)),
    'terminal.open': call((all, { terminal }) => all.open(terminal)),
  } satisfies Partial<Servers<typeof agentCalls>>;
}

function copyCalls(copies: AgentOptions['copies'], currentRun: () => Promise<SessionRun>) {
  return {
    'copies.checkOut': async () => (await copies()).checkOut(),
    async 'copies.flush'() {
      await (await currentRun()).flushCopies();
      return {};
    },
  } satisfies Partial<Servers<typeof agentCalls>>;
}

function restorePart(
  copies: Pick<HistoryCopies, 'restorePart'>,
  kind: CopyKind,
  stream: Duplex,
): void {
  copies.restorePart(kind, stream).then(
    () => stream.end(),
    (error: unknown) => stream.destroy(errorFrom(error)),
  );
}

async function exportWorkspace(
  run: SessionRun,
  { format, ...span }: StreamMeta<'workspace.export'>,
  stream: Duplex,
): Promise<void> {
  await run.recorded();
  const bytes = await (await run.services).history.export(format, span);
  void pipeline(bytes, stream).catch(ignoreError('a viewer that leaves ends its own stream only'));
}
