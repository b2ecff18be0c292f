import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  AppError,
  competitorsOf,
  errorFrom,
  ignoreError,
  isEnded,
  ownAgent,
  type Comparison,
  type FailedStart,
  type KeptSession,
  type newComparison,
  type SessionSummary,
} from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { z } from 'zod';
import { assertMay, sees, type Caller } from '../access/caller.js';
import { ComparisonStore, type ComparisonRecord } from './comparison.store.js';
import { NewWorkspaces } from './new-workspaces.js';
import { newSessionId, SessionCreation } from './session-creation.js';
import { SessionRemoval } from './session-removal.js';
import { SessionService } from './session.service.js';

/**
 * One task for several models, agents or runs: the sessions begin together, are shown together, and the user keeps one
 * of them.
 */
@Injectable()
export class Comparisons implements OnModuleInit {
  /** Serializes choices: of two concurrent ones, the second sees the first. */
  readonly #choices = new Mutex();

  constructor(
    private readonly store: ComparisonStore,
    private readonly sessions: SessionService,
    private readonly creation: SessionCreation,
    private readonly workspaces: NewWorkspaces,
    private readonly removal: SessionRemoval,
  ) {}

  onModuleInit(): void {
    this.removal.onRemoved(() => {
      void this.#removeEmpty().catch(ignoreError('it is not shown without its sessions'));
    });
  }

  /**
   * Checks every agent with its model and the workspace before any session begins. Sessions that then fail to begin are
   * named in `failed`; throws if all of them fail.
   */
  async create(
    { agent, agents, models, runs, ...common }: z.output<typeof newComparison>,
    caller: Caller,
  ): Promise<Comparison> {
    const competitors = competitorsOf({ agent, agents, models });
    for (const one of competitors) await this.creation.check({ ...common, ...one }, caller);
    const files = await this.workspaces.forSeveral(common, caller);
    const id = newSessionId();
    const created = new Date().toISOString();
    const { task, check } = common;
    await this.store.insert({ id, created, task, check, failed: [], kept: null });
    const failed: FailedStart[] = [];
    for (const one of competitors.flatMap((each) => Array.from({ length: runs }, () => each))) {
      try {
        const more = { comparison: id, files };
        await this.creation.create({ ...common, ...one }, caller, undefined, more);
      } catch (error) {
        const { name } = one.agent ?? { name: ownAgent };
        failed.push({ agent: name, model: one.model, error: errorFrom(error).message });
        if (failed.length === competitors.length * runs) {
          await this.store.remove(id);
          throw error;
        }
      }
    }
    if (failed.length > 0) await this.store.setFailed(id, failed);
    return this.get(id, caller);
  }

  /** The comparisons whose sessions the caller can all see, newest first. */
  async list(caller: Caller): Promise<Comparison[]> {
    const byComparison = await this.#members();
    const records = await this.store.all();
    return records.flatMap((record) => withSessions(record, byComparison, caller) ?? []);
  }

  /** Throws `not_found` also when the caller cannot see all of its sessions. */
  async get(id: string, caller: Caller): Promise<Comparison> {
    const record = await this.store.find(id);
    const found = record && withSessions(record, await this.#members(), caller);
    if (found) return found;
    throw new AppError('not_found', `There is no comparison ${id.slice(0, 100)}.`);
  }

  /** Stops and archives the other sessions. Throws `conflict` while another session is kept. */
  keep(id: string, session: string, caller: Caller): Promise<Comparison> {
    return this.#choices.runExclusive(async () => {
      const { sessions, kept } = await this.#ofOperator(id, caller);
      if (kept)
        throw new AppError('conflict', `The session ${kept.session} is kept. Undo that first.`);
      if (!sessions.some((each) => each.id === session))
        throw new AppError('not_found', `The comparison has no session ${session}.`);
      const others = sessions
        .filter((each) => each.id !== session)
        .map((each) => ({
          session: each.id,
          stopped: !isEnded(each.state),
          archived: !each.archived,
        }));
      // Stored first, so that a choice interrupted by a kill can be undone.
      await this.store.setKept(id, { session, others });
      for (const other of others) await this.#putAway(other, caller);
      return this.get(id, caller);
    });
  }

  /** Restores the other sessions to their state before the choice; those that it stopped work again. */
  undo(id: string, caller: Caller): Promise<Comparison> {
    return this.#choices.runExclusive(async () => {
      const { kept } = await this.#ofOperator(id, caller);
      if (!kept) throw new AppError('conflict', 'No session of this comparison is kept.');
      for (const other of kept.others) {
        await this.#putBack(other, caller).catch((error: unknown) => {
          // The session was deleted, or works already.
          if (!['not_found', 'conflict'].includes(errorFrom(error).code)) throw error;
        });
      }
      await this.store.setKept(id, null);
      return this.get(id, caller);
    });
  }

  async #putAway({ session, stopped, archived }: OtherSession, caller: Caller): Promise<void> {
    if (stopped) await this.sessions.stop(session);
    if (archived) await this.sessions.change(session, { archived: true }, caller);
  }

  async #putBack({ session, stopped, archived }: OtherSession, caller: Caller): Promise<void> {
    if (archived) await this.sessions.change(session, { archived: false }, caller);
    if (stopped) await this.sessions.restart(session);
  }

  async #ofOperator(id: string, caller: Caller): Promise<Comparison> {
    const found = await this.get(id, caller);
    for (const { id: session } of found.sessions) assertMay(caller, 'operate', session);
    return found;
  }

  async #members(): Promise<Members> {
    const all = await this.sessions.all();
    return Map.groupBy(all.toReversed(), ({ comparison }) => comparison);
  }

  async #removeEmpty(): Promise<void> {
    const members = await this.#members();
    for (const { id, created } of await this.store.all()) {
      // A comparison that is still being created has no sessions yet.
      const isNew = Date.now() - Date.parse(created) < 60_000;
      if (!isNew && !members.has(id)) await this.store.remove(id);
    }
  }
}

type OtherSession = KeptSession['others'][number];

/** Ordered by age, oldest first. */
type Members = Map<string | null, SessionSummary[]>;

function withSessions(
  record: ComparisonRecord,
  members: Members,
  caller: Caller,
): Comparison | undefined {
  const sessions = members.get(record.id);
  if (!sessions?.every(({ id }) => sees(caller, id))) return undefined;
  return { ...record, sessions };
}
