import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { AppError, type ApiName, type AuditEntry, type AuditPage } from '@belay/protocol';
import { Database, storageError } from '../storage/database.js';
import type { Caller } from './caller.js';

/** The number of entries that are kept; older ones are deleted. */
const maxEntries = 100_000;
/** Old entries are deleted each time this many were added. */
const trimEvery = 1_000;
/** Entries that may wait for the disk; beyond that the oldest are dropped. */
const maxWaiting = 10_000;
/**
 * Failures recorded each minute for all unknown callers together, and for each known caller: a flood must not displace
 * other entries.
 */
const failuresPerMinute = { strangers: 60, caller: 300 };
const flushMs = 100;
const maxSubject = 300;

export interface AuditedAction {
  api: ApiName;
  address?: string | null | undefined;
  /** Undefined when the request was refused before its caller was known. */
  caller: Pick<Caller, 'id' | 'label'> | undefined;
  action: string;
  session?: string | undefined;
  subject?: string | undefined;
  /** `ok`, or the code of the error. */
  outcome: string;
}

export interface AuditedWork extends Pick<AuditedAction, 'action' | 'session' | 'subject'> {
  /** The subject of the action, if only its result tells it. */
  made?: () => Pick<AuditedAction, 'session' | 'subject'>;
}

/** Records who did what, and who was refused. Rows are never changed; only the newest are kept. */
@Injectable()
export class AuditLog implements BeforeApplicationShutdown {
  readonly #logger = new Logger(AuditLog.name);
  #waiting: Omit<AuditEntry, 'id'>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #sinceTrim = trimEvery;
  #closed = false;
  #failures = { minute: 0, counts: new Map<string, number>() };

  constructor(private readonly database: Database) {}

  /** Returns at once; the entry is stored within a tenth of a second. */
  record({ caller, action, session, subject = '', outcome, api, address }: AuditedAction): void {
    if (this.#closed || (outcome !== 'ok' && !this.#takesFailureOf(caller?.id))) return;
    this.#waiting.push({
      time: new Date().toISOString(),
      caller: caller?.id ?? null,
      label: caller?.label ?? null,
      api,
      action: oneLine(action),
      session: session === undefined ? null : oneLine(session),
      subject: oneLine(subject),
      address: address ?? null,
      outcome,
    });
    if (this.#waiting.length > maxWaiting) this.#waiting.shift();
    this.#timer ??= setTimeout(() => void this.#flush(), flushMs).unref();
  }

  /** Runs an API’s work for a caller, and records its outcome. */
  async run<T>({ via, ...caller }: Caller, what: AuditedWork, work: () => Promise<T>): Promise<T> {
    const { made, ...known } = what;
    const record = (outcome: string, more: ReturnType<NonNullable<typeof made>> = {}): void =>
      this.record({
        api: via?.api ?? 'rest',
        address: via?.address,
        caller,
        ...known,
        outcome,
        ...more,
      });
    try {
      const result = await work();
      record('ok', made?.());
      return result;
    } catch (error) {
      record(error instanceof AppError ? error.code : 'internal');
      throw error;
    }
  }

  /** Runs an API’s check, and records a refusal. */
  refusals(
    caller: Caller,
    what: Pick<AuditedAction, 'action' | 'session' | 'subject'>,
    check: () => void,
  ): void {
    try {
      check();
    } catch (error) {
      this.failure(caller, what, error);
      throw error;
    }
  }

  /** Records what an API could not do for a caller. */
  failure(
    { via, ...caller }: Caller,
    what: Pick<AuditedAction, 'action' | 'session' | 'subject'>,
    error: unknown,
  ): void {
    const outcome = error instanceof AppError ? error.code : 'internal';
    this.record({ api: via?.api ?? 'rest', address: via?.address, caller, ...what, outcome });
  }

  /** The newest first. */
  async page(
    wanted: { before?: number | undefined; limit: number } & {
      session?: string | undefined;
      caller?: string | undefined;
    },
  ): Promise<AuditPage> {
    await this.#flush();
    let query = this.database.kysely
      .selectFrom('audit')
      .selectAll()
      .orderBy('id', 'desc')
      .limit(wanted.limit + 1);
    if (wanted.before !== undefined) query = query.where('id', '<', wanted.before);
    if (wanted.session !== undefined) query = query.where('session', '=', wanted.session);
    if (wanted.caller !== undefined) query = query.where('caller', '=', wanted.caller);
    const rows = await query.execute();
    const entries = rows.slice(0, wanted.limit).map((row) => ({ ...row, id: Number(row.id) }));
    const last = entries.at(-1);
    return { entries, next: rows.length > wanted.limit && last ? last.id : null };
  }

  /** Work that the server’s end interrupts is not recorded. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#closed = true;
    await this.#flush();
  }

  #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return (this.#writing = this.#writing.then(() => this.#write()));
  }

  async #write(): Promise<void> {
    const rows = this.#waiting;
    if (rows.length === 0) return;
    this.#waiting = [];
    try {
      for (let at = 0; at < rows.length; at += 500) {
        await this.database.kysely
          .insertInto('audit')
          .values(rows.slice(at, at + 500))
          .execute();
      }
      this.#sinceTrim += rows.length;
      if (this.#sinceTrim >= trimEvery) await this.#trim();
    } catch (error) {
      // An action is not undone when its record cannot be stored; the server’s log reports the missing record.
      this.#logger.error({ error: storageError(error), unrecorded: rows.length });
    }
  }

  async #trim(): Promise<void> {
    this.#sinceTrim = 0;
    const { newest } = await this.database.kysely
      .selectFrom('audit')
      .select(({ fn }) => fn.max('id').as('newest'))
      .executeTakeFirstOrThrow();
    if (newest === null) return;
    await this.database.kysely
      .deleteFrom('audit')
      .where('id', '<=', Number(newest) - maxEntries)
      .execute();
  }

  #takesFailureOf(caller = ''): boolean {
    const minute = Math.floor(Date.now() / 60_000);
    if (this.#failures.minute !== minute) this.#failures = { minute, counts: new Map() };
    const count = (this.#failures.counts.get(caller) ?? 0) + 1;
    this.#failures.counts.set(caller, count);
    const { strangers, caller: ofCaller } = failuresPerMinute;
    return count <= (caller === '' ? strangers : ofCaller);
  }
}

/** PostgreSQL accepts no NUL characters, and control characters would affect a reader’s terminal. */
const oneLine = (text: string): string =>
  text
    .slice(0, maxSubject)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
