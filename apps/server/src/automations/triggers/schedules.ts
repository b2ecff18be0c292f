import { createHash } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { spanMs, type AutomationTrigger } from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { OnLead } from '../../storage/on-lead.js';
import { Clock } from '../clock.js';
import { AutomationsStore } from '../definitions/automations.store.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { nextTimes } from '../definitions/next-times.js';
import { Deliveries } from './deliveries.js';

type ScheduleTrigger = Extract<AutomationTrigger, { schedule: string }>;

/** Missed times are counted up to here: each minute of a week. */
const maxCounted = 10_080;
const retryMs = 60_000;

/**
 * Begins runs at their times. The next time is stored, so that a server that was down knows what it missed: the newest time
 * runs if it is not too late, and the others are told as one row. A time has one delivery id on all servers.
 */
@Injectable()
export class Schedules implements OnLead, OnApplicationShutdown {
  readonly #logger = new Logger(Schedules.name);
  readonly #planned = new Map<string, { schedule: string; cancel: () => void }>();
  readonly #mutex = new Mutex();
  readonly #offs: (() => void)[] = [];
  #isClosed = false;

  constructor(
    private readonly automations: AutomationsStore,
    private readonly deliveries: Deliveries,
    private readonly clock: Clock,
  ) {}

  async onLead(): Promise<void> {
    this.#offs.push(this.automations.onChange(() => this.#work(() => this.#plan())));
    this.#work(() => this.#plan());
    await this.drained();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#isClosed = true;
    for (const off of this.#offs) off();
    for (const { cancel } of this.#planned.values()) cancel();
    await this.drained();
  }

  /** Resolves when nothing is worked on. */
  async drained(): Promise<void> {
    while (this.#mutex.isLocked()) await this.#mutex.waitForUnlock();
    await this.deliveries.drained();
  }

  /** One after the other: a change may come while a time does. */
  #work(work: () => Promise<void>): void {
    void this.#mutex.runExclusive(async () => {
      if (this.#isClosed) return;
      try {
        await work();
      } catch (error) {
        this.#logger.error(error);
        const time = new Date(this.clock.now().getTime() + retryMs);
        this.#offs.push(this.clock.at(time, () => this.#work(work)));
      }
    });
  }

  async #plan(): Promise<void> {
    const all = (await this.automations.list()).filter(hasSchedule);
    const on = new Set(all.flatMap(({ id, state }) => (state === 'on' ? [id] : [])));
    for (const [id, { cancel }] of this.#planned) {
      if (on.has(id)) continue;
      cancel();
      this.#planned.delete(id);
    }
    for (const automation of all)
      if (on.has(automation.id)) await this.#planOne(automation);
      // Times while it is paused were not missed.
      else if (automation.nextAt !== null)
        await this.automations.setSchedule(automation.id, { ...automation, nextAt: null });
  }

  /** A new schedule begins now; a known one goes on with the time that is stored. */
  async #planOne(automation: ScheduledAutomation): Promise<void> {
    const { id, nextAt, lastAt } = automation;
    const schedule = scheduleOf(automation);
    const known = this.#planned.get(id);
    if (known?.schedule === schedule) return;
    known?.cancel();
    this.#planned.delete(id);
    if (known === undefined && nextAt !== null) return this.#wait(automation, new Date(nextAt));
    const next = nextOf(automation, this.clock.now());
    await this.automations.setSchedule(id, { nextAt: next?.toISOString() ?? null, lastAt });
    if (next) this.#wait(automation, next);
  }

  #wait(automation: ScheduledAutomation, next: Date): void {
    const { id } = automation;
    const time = new Date(next.getTime() + staggerMs(id));
    const cancel = this.clock.at(time, () => this.#work(() => this.#come(id)));
    this.#planned.set(id, { schedule: scheduleOf(automation), cancel });
  }

  async #come(id: string): Promise<void> {
    this.#planned.delete(id);
    const automation = await this.automations.find(id);
    if (!automation || !hasSchedule(automation)) return;
    const { nextAt, state } = automation;
    if (state !== 'on' || nextAt === null) return;
    const now = this.clock.now();
    // Another server was faster.
    if (new Date(nextAt) > now) return this.#wait(automation, new Date(nextAt));
    const { missed, run, newest } = passed(automation, new Date(nextAt), now);
    if (missed > 0) await this.#tellMissed(automation, nextAt, missed);
    if (run) await this.#begin(id, run);
    const next = nextOf(automation, newest > now ? newest : now);
    await this.automations.setSchedule(id, {
      nextAt: next?.toISOString() ?? null,
      lastAt: newest.toISOString(),
    });
    if (next) this.#wait(automation, next);
  }

  async #begin(id: string, time: Date): Promise<void> {
    const at = time.toISOString();
    const key = `schedule:${id}:${at}`;
    await this.deliveries.receive({
      source: id,
      transport: 'schedule',
      delivery: key,
      event: 'schedule',
      occurrence: { event: 'schedule', key, at, actor: null },
    });
  }

  async #tellMissed({ id }: SavedAutomation, first: string, missed: number): Promise<void> {
    const count = missed >= maxCounted ? `${maxCounted} or more` : String(missed);
    await this.deliveries.receive({
      source: id,
      transport: 'schedule',
      delivery: `schedule:${id}:${first}:missed`,
      event: 'schedule',
      ignored: `Missed (${count}): the server did not run at ${first}, and it is too late now.`,
    });
  }
}

type ScheduledAutomation = SavedAutomation & { definition: { on: ScheduleTrigger } };

const hasSchedule = (automation: SavedAutomation): automation is ScheduledAutomation =>
  'schedule' in automation.definition.on;

const scheduleOf = ({ definition: { on } }: ScheduledAutomation): string =>
  `${on.schedule} ${on.zone}`;

const nextOf = ({ definition: { on } }: ScheduledAutomation, after: Date): Date | undefined =>
  nextTimes(on.schedule, on.zone, after, 1)[0];

/** Many schedules name the same minute: each has its own second of it, always the same. */
export const staggerMs = (id: string): number =>
  (createHash('sha256').update(id).digest().readUInt32BE(0) % 60) * 1_000;

/** The times from the first one on that have come: the newest may still run, all others were missed. */
function passed(
  { id, definition: { on } }: ScheduledAutomation,
  first: Date,
  now: Date,
): { missed: number; run: Date | undefined; newest: Date } {
  const times = [first];
  let last = first;
  while (times.length < maxCounted) {
    const more = nextTimes(on.schedule, on.zone, last, 100).filter((time) => time <= now);
    times.push(...more);
    const end = more.at(-1);
    if (more.length < 100 || !end) break;
    last = end;
  }
  const lateMs = spanMs(on.late) + staggerMs(id);
  // Beyond the count, the newest one is found from its end.
  const recent =
    times.length < maxCounted
      ? times
      : nextTimes(on.schedule, on.zone, new Date(now.getTime() - lateMs), 1_500).filter(
          (time) => time <= now,
        );
  const newest = recent.at(-1) ?? times.at(-1) ?? first;
  const isInTime = now.getTime() - newest.getTime() <= lateMs;
  return {
    missed: times.length - (isInTime ? 1 : 0),
    run: isInTime ? newest : undefined,
    newest,
  };
}
