import { Injectable } from '@nestjs/common';
import { isForgeTrigger } from '@belay/protocol';
import { Config } from '../../config.js';
import { newSessionId } from '../../sessions/session-creation.js';
import { Database } from '../../storage/database.js';
import type { DatabaseConnection } from '../../storage/database-schema.js';
import { exclusively } from '../../storage/exclusively.js';
import { Clock } from '../clock.js';
import { AutomationsStore } from '../definitions/automations.store.js';
import {
  admissionChecks,
  admissionOf,
  dayMs,
  hourMs,
  type LaneAdmission,
  type AdmissionInput,
} from './admission.js';
import { reservedBy, spentInMonth } from './money.js';
import type { RunDecision, RunRecord } from '../run-record.js';
import { RunsStore, type RunChange } from './runs.store.js';

/** A lane as it is shown. */
export interface LaneState {
  key: string;
  running: string | null;
  attempts: number;
  lastStart: string | null;
  stuck: string | null;
}

/** One transaction, and what had to be read before it: there is one connection at a time. */
interface World {
  connection: DatabaseConnection;
  siblings: string[];
}

const freeLane = { running: null, attempts: 0, last_start: null, stuck: null };

/**
 * Decides whose turn it is: one run at a time in each lane. Decisions and what follows from them are one transaction
 * that no other of this table overlaps, so that two servers never begin the same run, or two of a lane.
 */
@Injectable()
export class Lanes {
  readonly #capacity: number;

  constructor(
    private readonly database: Database,
    private readonly automations: AutomationsStore,
    private readonly runs: RunsStore,
    private readonly clock: Clock,
    { maxSandboxes }: Config,
  ) {
    // The others stay for users.
    this.#capacity = Math.max(1, Math.floor(maxSandboxes / 2));
  }

  /** What would be decided about a run now; changes nothing. */
  async look(run: RunRecord): Promise<LaneAdmission> {
    const siblings = await this.#siblings(run);
    return admissionOf(
      run,
      await this.#inputOf(run, { connection: this.database.kysely, siblings }),
    );
  }

  /** Lets a pending run wait for its turn, or skips it. In a lane with `replace`, earlier runs end for it. */
  queue(run: RunRecord, found: RunChange & { decisions: RunDecision[] }): Promise<boolean> {
    return this.#alone(run, async (world) => {
      const { connection } = world;
      const { lane } = found;
      const placed = { ...run, lane: lane ?? run.lane };
      const replaces = run.definition.lane.busy === 'replace';
      const input = await this.#inputOf(placed, world);
      const admission = admissionOf(placed, replaces ? { ...input, ahead: 0 } : input);
      const isQueued = await this.#decide(run, { admission, found, queued: true }, connection);
      if (isQueued && replaces && admission.verdict.kind !== 'skip')
        await this.#replaceOthers(placed, connection);
      return isQueued;
    });
  }

  /**
   * Begins a queued run if it is its turn: it holds the lane, its money is reserved, and it has the id of the session that
   * will be created. Returns when to look again: null when another run ends, or if something changed.
   */
  begin(run: RunRecord): Promise<{ changed: boolean; until: Date | null }> {
    return this.#alone(run, async (world) => {
      const { connection } = world;
      const admission = admissionOf(run, await this.#inputOf(run, world));
      const { verdict } = admission;
      if (verdict.kind !== 'begin') {
        const found = { decisions: withoutAdmission(run.decisions) };
        const changed = await this.#decide(run, { admission, found, queued: false }, connection);
        return {
          changed: changed && verdict.kind === 'skip',
          until: verdict.kind === 'wait' ? verdict.until : null,
        };
      }
      const now = this.clock.now().toISOString();
      const decisions = [...withoutAdmission(run.decisions), ...admission.decisions];
      const began = await this.runs.change(
        run,
        {
          state: 'starting',
          code: null,
          why: null,
          session: newSessionId(),
          started: now,
          decisions,
          reserved: reservedBy(run.definition),
        },
        connection,
      );
      if (began) await this.#hold(run, now, connection);
      return { changed: began, until: null };
    });
  }

  /** A user lets a lane go on. The run that holds it stays. */
  async reset(automation: string, key: string): Promise<void> {
    await this.database.kysely
      .updateTable('automation_lane')
      .set({ attempts: 0, stuck: null, trees: '[]', failures: '[]' })
      .where('automation', '=', automation)
      .where('key', '=', key)
      .execute();
  }

  async list(automation: string): Promise<LaneState[]> {
    const rows = await this.database.kysely
      .selectFrom('automation_lane')
      .select(['key', 'running', 'attempts', 'last_start', 'stuck'])
      .where('automation', '=', automation)
      .orderBy('key')
      .execute();
    return rows
      .filter(({ running, attempts, stuck }) => running !== null || attempts > 0 || stuck !== null)
      .map(({ last_start: lastStart, ...lane }) => ({ ...lane, lastStart }));
  }

  async #alone<T>(run: RunRecord, work: (world: World) => Promise<T>): Promise<T> {
    const siblings = await this.#siblings(run);
    return exclusively(this.database, 'automation_lane', (connection) =>
      work({ connection, siblings }),
    );
  }

  async #decide(
    run: RunRecord,
    {
      admission,
      found,
      queued,
    }: {
      admission: LaneAdmission;
      found: RunChange & { decisions: RunDecision[] };
      queued: boolean;
    },
    connection: DatabaseConnection,
  ): Promise<boolean> {
    const { verdict } = admission;
    const now = this.clock.now().toISOString();
    const decisions = [...found.decisions, ...admission.decisions];
    if (verdict.kind === 'skip') {
      const { code, why } = verdict;
      return this.runs.change(
        run,
        { ...found, decisions, state: 'skipped', code, why, ended: now },
        connection,
      );
    }
    const why = verdict.kind === 'wait' ? verdict.why : null;
    const due = verdict.kind === 'wait' && verdict.until ? verdict.until.toISOString() : now;
    if (!queued && run.why === why) return false;
    return this.runs.change(run, { ...found, decisions, state: 'queued', why, due }, connection);
  }

  async #hold(
    { id, automation, lane: key }: RunRecord,
    now: string,
    connection: DatabaseConnection,
  ): Promise<void> {
    const held = { running: id, last_start: now };
    await connection
      .insertInto('automation_lane')
      .values({
        automation: automation.id,
        key,
        ...held,
        attempts: 1,
        stuck: null,
        trees: '[]',
        failures: '[]',
      })
      .onConflict((conflict) =>
        conflict.columns(['automation', 'key']).doUpdateSet((set) => ({
          ...held,
          attempts: set('automation_lane.attempts', '+', 1),
        })),
      )
      .execute();
  }

  /** Those that wait end at once; the one at work is told to, and frees the lane when it has. */
  async #replaceOthers(
    { id, automation, lane }: RunRecord,
    connection: DatabaseConnection,
  ): Promise<void> {
    const why = `It was replaced by the run ${id}.`;
    const others = connection
      .updateTable('automation_run')
      .where('automation', '=', automation.id)
      .where('lane', '=', lane)
      .where('id', '!=', id);
    const ended = this.clock.now().toISOString();
    const { numUpdatedRows: replaced } = await others
      .set({ state: 'cancelled', code: 'replaced', why, ended })
      .where('state', '=', 'queued')
      .executeTakeFirst();
    this.runs.countEntered('cancelled', Number(replaced));
    await others
      .set({ code: 'replaced', why })
      .where('state', 'in', ['starting', 'working'])
      .where('code', 'is', null)
      .execute();
  }

  async #inputOf(run: RunRecord, { connection, siblings }: World): Promise<AdmissionInput> {
    const now = this.clock.now();
    const { id, automation, lane: key, subject } = run;
    const row = await connection
      .selectFrom('automation_lane')
      .select(['running', 'attempts', 'last_start', 'stuck'])
      .where('automation', '=', automation.id)
      .where('key', '=', key)
      .executeTakeFirst();
    const { last_start: lastStart, ...lane } = row ?? freeLane;
    const began = (ms: number) =>
      counted(connection).where('started', '>', new Date(now.getTime() - ms).toISOString());
    const own = (ms: number) => began(ms).where('automation', '=', automation.id);
    const ahead = counted(connection)
      .where('automation', '=', automation.id)
      .where('lane', '=', key)
      .where('state', '=', 'queued')
      .where('id', '<', id);
    const ofSubject = began(dayMs)
      .where('subject', '=', subject)
      .where('automation', 'in', siblings);
    return {
      now,
      lane: { ...lane, lastStart },
      ahead: await countOf(ahead),
      lastHour: await countOf(own(hourMs)),
      lastDay: await countOf(own(dayMs)),
      subjectDay: siblings.length === 0 ? 0 : await countOf(ofSubject),
      month: (await spentInMonth(connection, [automation.id], now)).get(automation.id) ?? 0,
      working: await countOf(counted(connection).where('state', 'in', ['starting', 'working'])),
      capacity: this.#capacity,
    };
  }

  /** The automations of the same repository, whose runs can be about the same issue or pull request. */
  async #siblings({ occurrence, definition: { on } }: RunRecord): Promise<string[]> {
    if (occurrence.number === undefined || !isForgeTrigger(on)) return [];
    const all = await this.automations.list();
    return all.flatMap(({ id, definition: { on: other } }) =>
      isForgeTrigger(other) && other.host === on.host && other.repository === on.repository
        ? id
        : [],
    );
  }
}

const counted = (connection: DatabaseConnection) =>
  connection
    .selectFrom('automation_run')
    .select((select) => select.fn.countAll<number | string>().as('count'));

const countOf = async (query: ReturnType<typeof counted>): Promise<number> =>
  Number((await query.executeTakeFirstOrThrow()).count);

/** What was decided before: whose turn it is was looked at again. */
const withoutAdmission = (decisions: readonly RunDecision[]): RunDecision[] =>
  decisions.filter(({ check }) => !admissionChecks.has(check));
