import { Injectable } from '@nestjs/common';
import { AppError, mcpToolNamed, type Event, type serverCalls } from '@belay/protocol';
import type { CallInput, RopeStream, Servers } from '@belay/rope';
import { ApprovalService } from '../approvals/approval.service.js';
import { EgressService } from '../egress/egress.service.js';
import { McpCalls } from '../mcp/mcp-calls.js';
import { ModelGateway } from '../models/model-gateway.js';
import { WebSearch } from '../models/web-search.js';
import { BlobStore } from '../logs/blob-store.js';
import { EventLog } from '../logs/event-log.js';
import { Live } from '../logs/live.js';
import { TerminalLog } from '../logs/terminal-log.js';
import type { AgentRope } from './agent-link.js';
import { Backlog } from './backlog.js';
import type { Sandbox } from './sandbox.js';
import { Sidecars } from './sidecar.js';

type Calls = typeof serverCalls;

/** What an agent may ask of the server. It speaks for its own sandbox’s session and for no other. */
@Injectable()
export class AgentCalls {
  constructor(
    private readonly log: EventLog,
    private readonly terminals: TerminalLog,
    private readonly blobs: BlobStore,
    private readonly live: Live,
    private readonly models: ModelGateway,
    private readonly search: WebSearch,
    private readonly approvals: ApprovalService,
    private readonly mcp: McpCalls,
    private readonly egress: EgressService,
    private readonly sidecars: Sidecars,
  ) {}

  serve(rope: AgentRope, sandbox: Sandbox): void {
    const greeted = Promise.withResolvers<void>();
    // After a restart of the server, calls that waited are sent again and may arrive before the agent's hello.
    const session = async (): Promise<string> => {
      if (sandbox.rope !== rope) await greeted.promise;
      return sessionOf(sandbox, rope);
    };
    const handlers: Servers<Calls> = {
      hello: async (input) => {
        const answer = await this.hello(input, rope, sandbox);
        greeted.resolve();
        return answer;
      },
      'events.append': async ({ session: claimed, epoch, events }) => {
        if (claimed !== (await session()))
          throw new AppError('forbidden', 'This is not its session.');
        return { seqs: await this.log.appendFromAgent(claimed, epoch, events) };
      },
      'model.generate': async (request, { signal }) =>
        this.models.generate(await session(), request, { signal }),
      'approvals.request': async (asked, { signal }) => {
        const mine = await session();
        const isMcp = mcpToolNamed(asked.operation) !== undefined;
        const request = isMcp ? await this.mcp.question(mine, asked.id) : asked;
        return this.approvals.request(mine, request, signal);
      },
      'mcp.call': async ({ id }, { signal }) => this.mcp.run(await session(), id, signal),
      'blobs.put': async ({ type, bytes }) => ({ blob: await this.blobs.put(bytes, type) }),
      'blobs.get': async ({ blob }) => {
        const { type, bytes } = await this.blobs.get(blob);
        return { type, bytes: bytes as Uint8Array<ArrayBuffer> };
      },
      'terminal.stored': async ({ terminal }) => ({
        offset: await this.terminals.size(await session(), terminal),
      }),
      'browser.frame': async (frame) => {
        this.live.frame(await session(), frame);
        return {};
      },
      'browser.sidecar': async () => ({ endpoint: await this.sidecars.start(sandbox) }),
      'web.search': (input, { signal }) => this.search.search(input, { signal }),
    };
    rope.serve(handlers);
    rope.on('disconnected', () => sandbox.onBreak());
    rope.accept('terminal', async ({ terminal, offset }, stream) =>
      this.takeTerminal({ session: await session(), terminal, offset }, stream),
    );
    rope.accept('egress', async (target, stream) =>
      this.egress.connect(await session(), target, stream),
    );
  }

  /** First call on each connection: from now on the agent can be called, and it misses no event. */
  private async hello(
    input: CallInput<Calls, 'hello'>,
    rope: AgentRope,
    sandbox: Sandbox,
  ): ReturnType<Servers<Calls>['hello']> {
    if (sandbox.rope?.connected && sandbox.rope !== rope) {
      throw new AppError('conflict', 'Another agent of this sandbox is connected.');
    }
    sandbox.rope = rope;
    const { session } = sandbox;
    if (input.session !== null && (input.session !== session || input.epoch !== sandbox.epoch)) {
      throw new AppError('conflict', 'Another sandbox works on this session now.');
    }
    if (session === null || (input.session === null && !sandbox.adopted)) {
      sandbox.greet();
      return { assignment: null, events: [], storedN: 0 };
    }
    const backlog = await Backlog.open(this.log, session, input.lastSeq);
    const storedN = await this.log.storedN(session, sandbox.epoch);
    const assignment =
      input.session === null ? await this.assignment(session, sandbox.epoch) : null;
    const events = assignment ? [] : backlog.take();
    // When the answer is on its way, what was written since then follows it, and after that whatever comes.
    setImmediate(() => {
      backlog.handOver(rope);
      sandbox.publish();
      sandbox.greet();
    });
    return { assignment, events, storedN };
  }

  private async assignment(
    session: string,
    epoch: number,
  ): Promise<{
    session: string;
    settings: Awaited<ReturnType<EventLog['settings']>>;
    events: Event[];
    epoch: number;
  }> {
    const settings = await this.log.settings(session);
    return { session, settings, events: await this.log.read(session, { after: 0 }), epoch };
  }

  /** Stores what a terminal prints; the agent’s bytes count as acknowledged when they are stored. */
  private async takeTerminal(
    from: { session: string; terminal: string; offset: number },
    stream: RopeStream,
  ): Promise<void> {
    const { session, terminal } = from;
    const size = await this.terminals.size(session, terminal);
    if (from.offset > size) {
      throw new AppError('conflict', `The terminal goes on at ${size}, not at ${from.offset}.`);
    }
    void this.storeTerminal(from, stream);
  }

  private async storeTerminal(
    from: { session: string; terminal: string; offset: number },
    stream: RopeStream,
  ): Promise<void> {
    let at = from.offset;
    try {
      for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
        const bytes = chunk as Buffer;
        await this.terminals.append(from.session, from.terminal, at, bytes);
        at += bytes.byteLength;
      }
      stream.end();
    } catch (error) {
      // The agent hears why, and opens the stream again from what is stored.
      stream.destroy(error as Error);
    }
  }
}

function sessionOf(sandbox: Sandbox, rope: AgentRope): string {
  // Other programs of the sandbox can dial its socket too: only who said hello is the agent.
  if (sandbox.rope !== rope) throw new AppError('forbidden', 'Say hello first.');
  if (sandbox.session === null) {
    throw new AppError('conflict', 'This agent has no session yet.');
  }
  return sandbox.session;
}
