import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { AppError, type serverCalls, type StartPayload } from '@belay/protocol';
import { whileTransferring, type CallInput, type Servers } from '@belay/rpc';
import { EgressService } from '../../egress/egress.service.js';
import { TransientNotices } from '../../logs/transient-notices.js';
import { lease } from '../../storage/lease.js';
import type { AgentConnection } from './agent-link.js';
import { ApprovedServices } from './approved-services.js';
import type { ConnectedSandbox } from './connected-sandbox.js';
import { ConnectionLog } from './connection-log.js';
import { ModelCalls } from './model-calls.js';
import { StorageCalls } from './storage-calls.js';

type Calls = typeof serverCalls;
export interface TarSource {
  tar: Readable;
  /** The size, if it is known. */
  bytes?: number | undefined;
}
export type OpenTar = () => Promise<TarSource>;

/** Milliseconds that an agent may take to begin; reading a long log takes time. */
const beginTimeoutMs = 60_000;
/** Milliseconds between two progress notices about an archive. */
const copiedEveryMs = 200;

/** Handlers of an agent’s calls, limited to the session of its sandbox. */
@Injectable()
export class AgentCalls {
  constructor(
    private readonly log: ConnectionLog,
    private readonly storage: StorageCalls,
    private readonly approved: ApprovedServices,
    private readonly models: ModelCalls,
    private readonly egress: EgressService,
    private readonly live: TransientNotices,
  ) {}

  serve(connection: AgentConnection, sandbox: ConnectedSandbox): void {
    const greeted = Promise.withResolvers<void>();
    // After a restart of the server, calls that waited are sent again and may arrive before the agent’s hello.
    const session = async (): Promise<string> => {
      lease.assertHeld();
      if (sandbox.connection !== connection) await greeted.promise;
      return sessionOf(sandbox, connection);
    };
    const handlers: Omit<Servers<Calls>, 'hello'> = {
      ...this.storage.handlers(session),
      ...this.approved.handlers(session, sandbox),
      ...this.models.handlers(session),
      'program.conversation': async ({ cwd }) => ({
        file: await this.log.programConversation(await session(), cwd),
      }),
      'program.current': async ({ token }) => ({
        program: await this.log.currentProgram(await session(), token),
      }),
      'egress.report': async () => ({ text: await this.egress.report(await session()) }),
    };
    connection.serve({
      ...onlyInSession(handlers, session),
      hello: async (input) => {
        const reply = await this.#hello(input, connection, sandbox);
        greeted.resolve();
        return reply;
      },
    });
    connection.on('connected', () => sandbox.connected());
    connection.on('disconnected', () => sandbox.disconnected());
    connection.accept('terminal', async ({ terminal, offset }, stream) =>
      this.storage.takeTerminal({ session: await session(), terminal, offset }, stream),
    );
    connection.accept('copies.store', async (part, stream) =>
      this.storage.takeCopy(await session(), part, stream),
    );
    connection.accept('model', async (request, stream) =>
      this.models.passOn(await session(), request, stream),
    );
    connection.accept('egress', async (target, stream) =>
      this.egress.connect(await session(), target, stream),
    );
  }

  /**
   * Assigns a session to a waiting agent; resolves when it has begun. Others may call the agent before they see anything
   * that it does, and it misses no event after those of the start payload.
   */
  async begin(sandbox: ConnectedSandbox, startPayload: StartPayload): Promise<void> {
    const connection = connectionOf(sandbox);
    const last = startPayload.events.at(-1)?.seq ?? 0;
    const backlog = await this.log.backlog(startPayload.session, last);
    try {
      const signal = AbortSignal.timeout(beginTimeoutMs);
      const whole = await this.log.withProgram(startPayload);
      await sandbox.alive(connection.call('session.begin', whole, { signal }));
      backlog.handOver(connection);
      sandbox.publish();
    } finally {
      backlog.close();
    }
  }

  /** Logs that the agent broke the protocol of its connection. */
  reportBreach({ session }: ConnectedSandbox, reason: string): void {
    if (session !== null) this.log.reportBreach(session, reason);
  }

  /** Resolves when the agent has unpacked the archive, which it signals by ending its side of the stream. */
  async importWorkspace(sandbox: ConnectedSandbox, openTar: OpenTar): Promise<void> {
    const { tar: source, bytes = null } = await openTar();
    const opening = connectionOf(sandbox).open('workspace.import', {});
    const stream = await opening.catch((error: Error) => {
      source.destroy(error);
      throw error;
    });
    stream.resume();
    const unpacked = once(stream, 'end');
    const { session } = sandbox;
    const tell = (): void => {
      if (session !== null) this.live.copied(session, stream.acknowledged, bytes);
    };
    const telling = setInterval(tell, copiedEveryMs);
    try {
      await whileTransferring(() => Promise.all([pipeline(source, stream), unpacked]));
    } finally {
      clearInterval(telling);
      source.destroy();
      stream.destroy();
    }
  }

  /** First call on each connection: from now on the agent can be called, and it misses no event. */
  async #hello(
    input: CallInput<Calls, 'hello'>,
    connection: AgentConnection,
    sandbox: ConnectedSandbox,
  ): ReturnType<Servers<Calls>['hello']> {
    if (sandbox.connection?.connected && sandbox.connection !== connection) {
      throw new AppError('conflict', 'Another agent of this sandbox is already connected.');
    }
    sandbox.connect(connection);
    const { session, hasBegun } = sandbox;
    if (input.session !== null && (input.session !== session || input.epoch !== sandbox.epoch)) {
      throw new AppError('conflict', 'Another sandbox works on this session now.');
    }
    if (session === null || (input.session === null && !hasBegun)) {
      sandbox.greet();
      return { startPayload: null, events: [], storedN: 0, services: this.approved.available };
    }
    const backlog = await this.log.backlog(session, input.lastSeq);
    const storedN = await this.log.storedN(session, sandbox.epoch);
    const startPayload =
      input.session === null ? await this.log.startPayload(session, sandbox.epoch) : null;
    const events = startPayload ? [] : backlog.take();
    // The reply is followed by the events that were written meanwhile, then by live ones.
    setImmediate(() => {
      backlog.handOver(connection);
      sandbox.publish();
      sandbox.greet();
    });
    return { startPayload, events, storedN, services: this.approved.available };
  }
}

/** Refuses every call before the agent’s hello and without a session. */
function onlyInSession<H extends object>(handlers: H, session: () => Promise<string>): H {
  const guarded = Object.entries(handlers).map(([name, handler]) => [
    name,
    async (...args: unknown[]) => {
      await session();
      return (handler as (...given: unknown[]) => Promise<unknown>)(...args);
    },
  ]);
  return Object.fromEntries(guarded) as H;
}

function connectionOf({ connection }: ConnectedSandbox): AgentConnection {
  if (!connection) throw new AppError('internal', 'The agent was never connected.');
  return connection;
}

function sessionOf(sandbox: ConnectedSandbox, connection: AgentConnection): string {
  // Other programs of the sandbox can connect to its socket too: only the caller of `hello` is the agent.
  if (sandbox.connection !== connection)
    throw new AppError('forbidden', 'The first call of an agent must be `hello`.');
  if (sandbox.session === null) {
    throw new AppError('conflict', 'This agent has no session yet.');
  }
  return sandbox.session;
}
