import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  ignoreError,
  isEnded,
  type Machine,
  type MachineMove,
  type PlaceLabels,
  type SessionSummary,
} from '@belay/protocol';
import { Semaphore } from 'async-mutex';
import type { OnLead } from '../storage/on-lead.js';
import { sees, type Caller } from '../access/caller.js';
import { EventLog } from '../logs/event-log.js';
import { Machines } from '../sandboxes/machines/machines.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { SandboxSlots } from './sandbox-slots.js';
import { SessionPlaces } from './session-places.js';
import { StartQueue } from './start-queue.js';

/** More would only slow each other down. */
const parallelMoves = 4;
/** How long an agent and its machine may take to connect, after a start of the server or a break. */
const connectTimeoutMs = 15_000;
const pollMs = 100;

type Outcome = Pick<MachineMove, 'state' | 'detail'>;

/** Where it is now is told when that is asked for. */
const left: Outcome = { state: 'moved', detail: '' };

/**
 * Empties machines: no session begins there any more, and those that run there go on elsewhere with the files of their
 * last step. The mark on the machine says so, also after the end of a server that was emptying it.
 */
@Injectable()
export class MachineDraining implements OnLead, OnModuleDestroy {
  readonly #moves = new Map<string, Map<string, Outcome>>();
  readonly #turns = new Semaphore(parallelMoves);
  #closing = false;

  constructor(
    private readonly machines: Machines,
    private readonly sandboxes: SandboxService,
    private readonly slots: SandboxSlots,
    private readonly queue: StartQueue,
    private readonly places: SessionPlaces,
    private readonly log: EventLog,
  ) {}

  onLead(): void {
    for (const { id, draining } of this.machines.all()) if (draining) this.#empty(id);
  }

  onModuleDestroy(): void {
    this.#closing = true;
  }

  /** Those that the caller may use, with what became of the sessions on those that are being drained. */
  async list(caller: Caller): Promise<Machine[]> {
    return Promise.all(
      this.machines.list(caller).map(async (machine) => ({
        ...machine,
        moves: await this.#movesFrom(machine.id, caller),
      })),
    );
  }

  /** By id or name. Begins, repeats or ends the draining, which goes on in the background. Throws `not_found`. */
  async change(
    machine: string,
    change: { draining?: boolean | undefined; labels?: PlaceLabels | undefined },
    caller: Caller,
  ): Promise<Machine> {
    const { draining, labels } = change;
    const { id } = await this.machines.change(machine, {
      ...(draining !== undefined && { draining }),
      ...(labels && { labels }),
    });
    if (draining) this.#empty(id);
    else if (draining === false) this.#moves.delete(id);
    const found = (await this.list(caller)).find((one) => one.id === id);
    if (!found) throw new AppError('not_found', `There is no machine ${machine}.`);
    return found;
  }

  #empty(machine: string): void {
    const moves = this.#moves.get(machine) ?? new Map<string, Outcome>();
    this.#moves.set(machine, moves);
    for (const session of this.machines.sessionsOn(machine)) {
      if (moves.get(session)?.state === 'moving') continue;
      moves.set(session, { state: 'moving', detail: 'Its files are being copied.' });
      void this.#turns
        .runExclusive(() => this.#move(session, machine))
        .catch((error: unknown): Outcome => ({ state: 'kept', detail: errorFrom(error).message }))
        .then((outcome) => moves.set(session, outcome));
    }
  }

  async #move(session: string, machine: string): Promise<Outcome> {
    // After a start that is under way.
    await this.slots.inOrder(session, () => this.#untilConnected(session, machine));
    this.#assertReached(session, machine);
    await this.#flush(session, machine);
    const stays = await this.places.staysBecause(session);
    if (stays) return { state: 'kept', detail: stays };
    const { question } = await this.log.summary(session);
    // An agent that is told to stop takes its question back.
    const cutOff = question === null ? undefined : () => this.sandboxes.cutOff(session);
    await this.queue.halt(session, cutOff).catch((error: unknown) => {
      // It goes on there.
      this.slots.keep(session);
      throw error;
    });
    await this.queue.leave(session);
    return left;
  }

  /** Ends early when its agent or the machine is away for too long: a call waits for them. */
  async #flush(session: string, machine: string): Promise<void> {
    const over = new AbortController();
    const watch = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await this.#untilConnected(session, machine);
        this.#assertReached(session, machine);
        await delay(pollMs, undefined, { ref: false });
      }
    };
    try {
      await Promise.race([this.sandboxes.flush(session), watch()]);
    } finally {
      over.abort();
    }
  }

  async #untilConnected(session: string, machine: string): Promise<void> {
    const end = Date.now() + connectTimeoutMs;
    while (this.#awayBecause(session, machine) && Date.now() < end && !this.#closing)
      await delay(pollMs, undefined, { ref: false });
  }

  #assertReached(session: string, machine: string): void {
    const reason = this.#awayBecause(session, machine);
    if (reason) throw new AppError('unavailable', reason);
  }

  #awayBecause(session: string, machine: string): string | undefined {
    if (!this.machines.isConnected(machine))
      return 'The machine is not connected, so nothing would end it there.';
    if (this.sandboxes.state(session) === 'lost')
      return 'Its agent is not connected, so its last step cannot be copied.';
    return undefined;
  }

  async #movesFrom(machine: string, caller: Caller): Promise<MachineMove[]> {
    const moves = [...(this.#moves.get(machine) ?? [])].filter(([session]) =>
      sees(caller, session),
    );
    const there = new Set(this.machines.sessionsOn(machine));
    const known = await Promise.all(
      moves.map(async ([session, { state, detail }]) => {
        // One that was kept leaves when its agent ends.
        const isThere = state === 'moving' || (state === 'kept' && there.has(session));
        if (isThere) return { session, state, detail };
        const summary = await this.log.summary(session).catch(ignoreError('it was deleted'));
        return summary ? { session, state: 'moved' as const, detail: whereNow(summary) } : [];
      }),
    );
    return known.flat();
  }
}

function whereNow({ state, reason, machine }: SessionSummary): string {
  if (isEnded(state)) return reason ?? 'It has ended, and would start elsewhere.';
  if (state === 'starting') return reason ?? 'It starts elsewhere.';
  return machine
    ? `It runs on the machine ${machine.name}.`
    : 'It runs in a sandbox of the server.';
}
