import {
  AppError,
  errorFrom,
  fact,
  type Assignment,
  type Event,
  type ModelRequest,
} from '@belay/protocol';
import type { AgentRope } from './agent-rope.js';
import { checkCall, offeredIn, operationsFor, perform, type Checked } from './dispatch.js';
import { conversation } from './loop/conversation.js';
import { guide } from './loop/guide.js';
import { Loop } from './loop/loop.js';
import type { LoopOptions } from './loop/loop-options.js';
import { inWords } from './loop/subject.js';
import { pathsOf } from './loop/touched.js';
import { callMcp, isMcp } from './mcp/mcp.js';
import { Outbox } from './outbox.js';
import { releaseMemory } from './release-memory.js';
import type { AgentRooms, MakeRooms } from './rooms.js';
import { SessionLog } from './session-log.js';

export interface WorkOptions {
  rope: AgentRope;
  assignment: Assignment;
  makeRooms: MakeRooms;
  /** The agent can do nothing more for this session: a newer one has it, or it is broken. */
  onEnd(error: AppError): void;
}

/** Milliseconds without an event after which an agent is at rest. */
const restAfter = 10_000;

/** The work on one session: its log, its rooms and its loop. */
export class Work {
  readonly log: SessionLog;
  readonly session: string;
  readonly epoch: number;
  readonly #outbox: Outbox;
  readonly #loop: Loop;
  readonly #loopOptions: LoopOptions;
  readonly #closing = new AbortController();
  #rooms: Promise<AgentRooms>;
  #page: () => string | null = () => null;
  #recording: Promise<void> = Promise.resolve();
  #resting: NodeJS.Timeout | undefined;

  constructor(private readonly options: WorkOptions) {
    const { rope, assignment } = options;
    const { session, epoch } = assignment;
    this.session = session;
    this.epoch = epoch;
    this.log = new SessionLog(withStart(assignment));
    this.#outbox = new Outbox({
      send: async (events) => (await rope.call('events.append', { session, epoch, events })).seqs,
      stored: ({ n: _n, ...event }, seq) => {
        this.log.stored({ ...event, source: 'agent' }, seq);
        this.#rest();
      },
      refused: (error) => options.onEnd(error),
    });
    this.#rooms = options.makeRooms({ journal: this.#outbox, rope });
    this.#loopOptions = this.#optionsOfLoop();
    this.#loop = new Loop(this.#loopOptions);
  }

  /** One that waits for a person gives back what its work needed. */
  #rest(): void {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(releaseMemory, restAfter).unref();
  }

  /** Resolves when the rooms are open; the loop goes on from there by itself. */
  async begin(): Promise<void> {
    const rooms = await this.#rooms;
    this.#page = () => rooms.page();
    this.#recording = rooms.history.begin();
    void this.#loop.run(this.#closing.signal).catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.options.onEnd(errorFrom(error));
    });
  }

  /** What others wrote, in order. */
  async hear(events: readonly Event[]): Promise<void> {
    const fresh = this.log.hear(events);
    this.#loop.heard(fresh);
    if (fresh.some(({ action }) => action === 'stop' || action === 'limit')) {
      await this.#killRunning();
    }
  }

  /** A person's call of an operation. Throws what the operation throws. */
  async call(
    id: string,
    call: { operation: string; input: unknown },
    signal: AbortSignal,
  ): Promise<unknown> {
    const checked = checkCall(call.operation, call.input, operationsFor('person'));
    const context = { id, source: 'user', signal } as const;
    if (isQuiet(checked)) return perform((await this.#rooms).handlers, checked, context);
    const { operation, input } = checked;
    const message = inWords(operation, input, this.#page());
    this.#outbox.append({ source: 'user', action: operation.name, args: input, message, id });
    const started = performance.now();
    const end = (ok: boolean, output: unknown) =>
      this.#outbox.append(
        fact('user', 'result', {
          args: {
            operation: operation.name,
            ok,
            output,
            seconds: (performance.now() - started) / 1000,
          },
          message: ok ? `${operation.name} done` : `${operation.name} failed`,
          id,
        }),
      );
    try {
      const output = await this.#perform(checked, context);
      end(true, output);
      this.#record({ ...checked, id });
      await this.#guideAfter(checked, output);
      return output;
    } catch (thrown) {
      end(false, errorFrom(thrown).toJSON());
      throw thrown;
    }
  }

  get rooms(): Promise<AgentRooms> {
    return this.#rooms;
  }

  /** Resolves when the history has what was done so far. */
  async recorded(): Promise<void> {
    await this.#recording;
  }

  /** Ends the loop and what runs, and waits until the log has what is left. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError('cancelled', 'The agent was ended.'));
    clearTimeout(this.#resting);
    const rooms = await this.#rooms;
    await rooms.close();
    await this.#recording;
    await this.#outbox.flush().catch(() => undefined);
  }

  #optionsOfLoop(): LoopOptions {
    const { rope } = this.options;
    return {
      log: this.log,
      journal: this.#outbox,
      offered: offeredIn(this.options.assignment.settings),
      generate: (request: ModelRequest, signal) => rope.call('model.generate', request, { signal }),
      approve: (request, signal) => rope.call('approvals.request', request, { signal }),
      perform: (call, context) => this.#perform(call, context),
      record: (call) => this.#record(call),
      recorded: () => this.recorded(),
      describeSandbox: async () => (await this.#rooms).describe(),
      guidance: async (paths, known) => (await this.#rooms).guidance.read(paths, known),
      page: () => this.#page(),
    };
  }

  /** A call that may change files waits until the history has what the last one changed. */
  async #perform(
    checked: Checked,
    context: { id: string; source: 'agent' | 'user'; signal: AbortSignal },
  ): Promise<unknown> {
    if (isMcp(checked)) return callMcp(this.options.rope, context);
    const rooms = await this.#rooms;
    if (mayChangeFiles(checked)) await this.#recording;
    return perform(rooms.handlers, checked, context);
  }

  #record({ operation, input, id }: Checked & { id: string }): void {
    if (!mayChangeFiles({ operation, input }) || operation.name === 'workspace.rewind') return;
    const paths = operation.name.startsWith('files.')
      ? pathsOf({ operation, input }, undefined)
      : [];
    const commit = { id, message: inWords(operation, input), ...(paths.length > 0 && { paths }) };
    this.#recording = this.#recording.then(async () => (await this.#rooms).history.commit(commit));
  }

  async #guideAfter(checked: Checked, output: unknown): Promise<void> {
    if (checked.operation.name !== 'workspace.trust') return;
    await this.#outbox.flush();
    await guide(this.#loopOptions, conversation(this.log.events), pathsOf(checked, output));
  }

  async #killRunning(): Promise<void> {
    const { terminals, handlers } = await this.#rooms;
    const signal = this.#closing.signal;
    for (const { terminal } of terminals.running()) {
      const context = { id: 'stop', source: 'user', signal } as const;
      await handlers['terminal.interrupt']({ terminal, kill: true }, context).catch(
        () => undefined,
      );
    }
  }
}

/** A person's look around changes nothing, and would drown the log. */
function isQuiet({ operation, input }: Checked): boolean {
  if (operation.name === 'workspace.trust') return input['preview'] === true;
  if (operation.name === 'workspace.rewind') return input['preview'] === true;
  return operation.risk === 'read';
}

/** What an MCP server does, it does outside. */
function mayChangeFiles(checked: Checked): boolean {
  const { operation } = checked;
  if (isMcp(checked)) return false;
  const room = operation.name.split('.')[0] ?? '';
  return operation.risk !== 'read' || room === 'terminal' || room === 'workspace';
}

/** The log of a new session may still be empty here; its first event is known all the same. */
function withStart({ events, settings }: Assignment): Event[] {
  if (events.some((event) => event.action === 'start')) return events;
  const start = fact('user', 'start', { args: settings, message: settings.task });
  return [{ ...start, seq: 0, time: new Date().toISOString() }, ...events];
}
