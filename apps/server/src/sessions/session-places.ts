import { Injectable } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  isEnded,
  isEvent,
  newEvent,
  type EventArgs,
  type SessionMachine,
  type SessionSettings,
} from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';
import { SessionsStore } from '../logs/sessions.store.js';
import { StepCopies } from '../logs/step-copies.js';
import {
  freePlaces,
  hasCapacity,
  type Needs,
  type SandboxPlace,
} from '../sandboxes/places/free-places.js';
import { Places } from '../sandboxes/places/places.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { SandboxSlots } from './sandbox-slots.js';
import { pauseEvent, startEvent } from './start-event.js';

/** Where sessions run. The log says so, so that a session is in one place however a server ends. */
@Injectable()
export class SessionPlaces {
  constructor(
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
    private readonly slots: SandboxSlots,
    private readonly places: Places,
    private readonly copies: StepCopies,
    private readonly store: SessionsStore,
  ) {}

  /** Throws `conflict` unless there is a place for such a session, whether or not it is full now. */
  assertFits(needs: Needs): void {
    freePlaces(this.#all(), needs);
  }

  /**
   * The place of the session’s next sandbox: where its files are, else the machine that its user named, else the least
   * loaded one that fits. Undefined while that is full. Throws `conflict` when none fits, and for files that cannot leave
   * a machine that is being drained.
   */
  async next(session: string): Promise<SandboxPlace | undefined> {
    const settings = await this.log.settings(session);
    const all = this.#all(session);
    const kept = await this.#placeOfFiles(session, all);
    const bound = kept ?? this.#named(settings.machine, all);
    if (!bound?.draining) {
      const place = bound ?? (await this.places.choose(all, settings));
      return place && hasCapacity(place) ? place : undefined;
    }
    const stays = kept && (await this.#staysBecause(session, kept));
    if (stays)
      throw new AppError(
        'conflict',
        `The machine ${bound.name} is being drained, and this session cannot leave it: ${stays} Let it take sessions again: belay machines use ${bound.name}`,
      );
    return this.places.choose(all, settings);
  }

  /** Whether the next sandbox is one of the server’s own, as soon as there is capacity. */
  async isAtServer(session: string): Promise<boolean> {
    const settings = await this.log.settings(session);
    if (settings.machine && !settings.machine.auto) return false;
    try {
      const place = await this.next(session);
      if (place) return place.machine === null;
      // All that fit are full.
      const own = this.#all(session).filter(({ machine }) => machine === null);
      freePlaces(own, settings);
      return true;
    } catch {
      // Its start says why.
      return false;
    }
  }

  /** Records the place of the next sandbox. */
  async settle(session: string, { machine }: SandboxPlace): Promise<void> {
    await this.log.append(session, (_, settings) => {
      const before = settings.machine;
      if (before?.name === machine?.name && before?.kind === machine?.kind) return [];
      const where = machine ? `on the machine ${machine.name}` : 'in a sandbox of the server';
      const message = `The session runs ${where}.`;
      return [newEvent('server', 'placed', { args: { machine }, message })];
    });
  }

  /** Why a session cannot leave its machine, in a sentence; null when it can. Its last step should be copied by now. */
  async staysBecause(session: string): Promise<string | null> {
    const place = await this.#placeOfFiles(session, this.#all(session));
    return place ? this.#staysBecause(session, place) : null;
  }

  /**
   * Records that a session goes on elsewhere, because its machine is being drained; false when it does not, because it
   * has ended, or cannot leave.
   */
  async leave(session: string): Promise<boolean> {
    const place = await this.#placeOfFiles(session, this.#all(session));
    if (!place?.draining || (await this.#staysBecause(session, place))) return false;
    const begun = await this.log.append(session, ({ state }, settings) => {
      if (isEnded(state)) return [];
      return [startEvent(settings, true), ...(state === 'paused' ? [pauseEvent()] : [])];
    });
    return begun.length > 0;
  }

  async #staysBecause(session: string, place: SandboxPlace): Promise<string | null> {
    const settings = await this.log.settings(session);
    if (place.machine?.kind === 'bare') return 'Nothing copies the files of a bare machine.';
    if (settings.mounts.length > 0) return 'It has folders of that machine.';
    if (!this.copies.isOn) return 'The server keeps no copies: BELAY_COPY_MB is 0.';
    if (!(await this.#isCopied(session, settings)))
      return 'The server has no copy of its last step.';
    try {
      const others = this.#all(session).filter(({ id }) => id !== place.id);
      freePlaces(others, settings);
      return null;
    } catch (error) {
      return errorFrom(error).message;
    }
  }

  /** Whether the server has a copy of all that this session’s own agents have recorded. */
  async #isCopied(session: string, { workspace }: SessionSettings): Promise<boolean> {
    const parts = await this.copies.list(session);
    const copied = parts.findLast(({ kind }) => kind === 'steps')?.commit;
    const [last, fork] = await Promise.all([
      this.store.latest(session, 'commit'),
      this.store.latest(session, 'fork'),
    ]);
    if (!last || !isEvent(last, 'commit') || last.seq <= (fork?.seq ?? 0) || isOfNothing(last.args))
      // A folder that was always empty has no copy.
      return copied !== undefined || workspace === null;
    return last.args.commit === copied;
  }

  /** The place of the session’s files; undefined when it has none, or they were on a machine that was removed. */
  async #placeOfFiles(
    session: string,
    all: readonly SandboxPlace[],
  ): Promise<SandboxPlace | undefined> {
    const at = await this.sandboxes.filesAt(session);
    return all.find(({ id }) => id === at);
  }

  /** Throws for a named machine like `Machines.ofSession`; undefined for a session that may run anywhere. */
  #named(machine: SessionMachine | null, all: readonly SandboxPlace[]): SandboxPlace | undefined {
    if (!machine || machine.auto) return undefined;
    const named = this.places.idOf(machine);
    return all.find(({ id }) => id === named);
  }

  #all(except?: string): SandboxPlace[] {
    return this.places.all((place) => this.slots.working(place, except));
  }
}

/** The first commit of an empty folder, which has no copy. */
const isOfNothing = ({ parent, files }: EventArgs<'commit'>): boolean =>
  parent === null && files.length === 0;
