import { Injectable } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  type OutgoingItem,
  type OutgoingKind,
  type RunReport,
} from '@belay/protocol';
import { AuditLog } from '../../access/audit-log.js';
import { ProofBlocks } from '../../publishing/proof-blocks.js';
import { KeyedMutex } from '../../storage/keyed-mutex.js';
import { lease } from '../../storage/lease.js';
import { Clock } from '../clock.js';
import type { Forge } from '../forges/forge.js';
import { Forges } from '../forges/forges.js';
import { recordAct } from '../record-act.js';
import type { RunRecord } from '../run-record.js';
import { OutgoingPlans } from './outgoing-plans.js';
import { OutgoingStore, shownItem, type OutgoingRow, type PlannedItem } from './outgoing.store.js';
import { passingCodes } from './published-run.js';
import { repositoryOf, subjectNamed } from './run-target.js';
import { sendComment } from './senders/send-comment.js';
import { sendLabels } from './senders/send-labels.js';
import { sendPullText } from './senders/send-pull-text.js';
import { sendReaction } from './senders/send-reaction.js';
import { sendReply } from './senders/send-reply.js';
import { sendReview } from './senders/send-review.js';
import type { Sender } from './senders/sender.js';

const mostTries = 5;
const firstDelayMs = 10_000;
const longestDelayMs = 60 * 60_000;

/** Pushes and pull requests are sent by `RunPublisher`. */
const senders: Partial<Record<OutgoingKind, Sender>> = {
  comment: sendComment,
  labels: sendLabels,
  'pull-text': sendPullText,
  reaction: sendReaction,
  reply: sendReply,
  review: sendReview,
};

/** What the run is for; the others only say that it is at work, and what became of a push is in the run’s result. */
const counts: ReadonlySet<OutgoingKind> = new Set(['comment', 'review', 'reply']);

export interface DeliveryEnd {
  /** Nothing is left to send. */
  done: boolean;
  /** Why something was not sent for good. */
  failed: string | null;
  /** When to deliver again, unless it is done. */
  nextAt: Date | null;
}

/**
 * Sends texts, labels and reactions of runs to git hosts. Each is planned as a row before it is sent, and looked for at the
 * host before it is sent again, so that it is there once whenever a server is killed.
 */
@Injectable()
export class Outgoing {
  readonly #delivering = new KeyedMutex();

  constructor(
    private readonly store: OutgoingStore,
    private readonly forges: Forges,
    private readonly plans: OutgoingPlans,
    private readonly proofs: ProofBlocks,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
  ) {}

  /** Plans what is said while the run is at work. Planned once, however often it is called. */
  async planBegin(run: RunRecord): Promise<void> {
    await this.store.plan(run.id, this.plans.ofBegin(run));
  }

  /**
   * Plans what is said at the end of a run, from its stored result. Planned once. With a text that the check of outgoing
   * texts refuses, nothing of the agent is sent: `deliver` says why.
   */
  async planEnd(run: RunRecord, report: RunReport | null): Promise<void> {
    const isPlanned = (await this.store.of(run.id)).some(isOfEnd);
    if (isPlanned) return;
    const items = await this.plans.ofEnd(run, report);
    await this.store.plan(run.id, items);
    for (const { refused, ...item } of items)
      if (refused !== undefined) this.#record(run, item, { outcome: 'rejected', more: refused });
  }

  /**
   * Sends what is planned, in order, up to what has to wait. Calls for one run wait for each other; while another server
   * sends it, nothing is done. Throws `unavailable` when another server takes the place of this one.
   */
  deliver(run: RunRecord): Promise<DeliveryEnd> {
    return this.#delivering.run(run.id, async () => {
      const end = await this.store.claimed(run.id, () => this.#deliver(run));
      return end ?? { done: false, failed: null, nextAt: this.#after(firstDelayMs) };
    });
  }

  async list(runId: string): Promise<OutgoingItem[]> {
    return (await this.store.of(runId)).map(shownItem);
  }

  async #deliver(run: RunRecord): Promise<DeliveryEnd> {
    const forge = this.#forge(run);
    for (const { id } of await this.store.of(run.id)) {
      const rows = await this.store.of(run.id);
      const row = rows.find((one) => one.id === id);
      const send = row && senders[row.kind];
      if (row?.state !== 'planned' || !send) continue;
      if (isReplaced(row, rows)) {
        await this.store.change(row, { state: 'given-up', why: 'A later text took its place.' });
        continue;
      }
      const nextAt = row.next_at === null ? null : new Date(row.next_at);
      if (nextAt && nextAt > this.clock.now()) return { done: false, failed: null, nextAt };
      lease.assertHeld();
      const wait = await this.#send(run, { send, row, rows, forge });
      if (wait) return { done: false, failed: null, nextAt: wait };
    }
    const left = (await this.store.of(run.id)).filter(({ kind }) => counts.has(kind));
    const failed = left.find((row) => hasFailed(row) && !isReplaced(row, left));
    return { done: true, failed: failed?.why ?? null, nextAt: null };
  }

  /** Returns when to try again, if that may help. */
  async #send(
    run: RunRecord,
    {
      send,
      row,
      rows,
      forge,
    }: { send: Sender; row: OutgoingRow; rows: readonly OutgoingRow[]; forge: Forge | AppError },
  ): Promise<Date | null> {
    const subject = subjectNamed(row.target);
    try {
      if (forge instanceof AppError) throw forge;
      if (!subject) throw new AppError('internal', `${row.target} is not a subject.`);
      const self = (): ReturnType<Forge['self']> => forge.self();
      const sent = await send({
        run: run.id,
        forge,
        subject,
        self,
        row,
        proofs: this.proofs,
        rows,
      });
      await this.store.change(row, {
        state: 'sent',
        remote_id: sent?.id ?? null,
        url: sent?.url ?? null,
        next_at: null,
        why: null,
      });
      this.#record(run, row, { outcome: 'ok', more: sent?.url ?? '' });
      return null;
    } catch (thrown) {
      return this.#failed(run, row, errorFrom(thrown));
    }
  }

  async #failed(run: RunRecord, row: OutgoingRow, error: AppError): Promise<Date | null> {
    const tries = row.tries + 1;
    const why = error.message;
    if (!passingCodes.has(error.code) || tries >= mostTries) {
      const state = passingCodes.has(error.code) ? 'given-up' : 'refused';
      await this.store.change(row, { state, tries, why, next_at: null });
      this.#record(run, row, { outcome: error.code, more: why });
      return null;
    }
    const asked = Number(error.details?.['retryAfterMs'] ?? 0) || 0;
    const delay = Math.min(Math.max(asked, firstDelayMs * 4 ** row.tries), longestDelayMs);
    const next = this.#after(delay);
    await this.store.change(row, { tries, why, next_at: next.toISOString() });
    return next;
  }

  #record(
    run: RunRecord,
    { kind, target }: Pick<PlannedItem, 'kind' | 'target'>,
    { outcome, more }: { outcome: string; more: string },
  ): void {
    const { host, path } = repositoryOf(run) ?? { host: '', path: '' };
    const what = `${target} of ${host}/${path} ${more}`.trim();
    recordAct(this.audit, run, { action: `automations.${kind}`, what, outcome });
  }

  #after(delayMs: number): Date {
    return new Date(this.clock.now().getTime() + delayMs);
  }

  /** Why there is none is found out by the rows that need one. */
  #forge(run: RunRecord): Forge | AppError {
    const repository = repositoryOf(run);
    if (!repository) return new AppError('not_found', 'The run is not about a repository.');
    try {
      return this.forges.open(repository.host, repository.path);
    } catch (error) {
      return errorFrom(error);
    }
  }
}

/** What is planned at the begin has the number 0. */
const isOfEnd = ({ kind, n }: OutgoingRow): boolean =>
  kind === 'review' ||
  kind === 'reply' ||
  kind === 'pull-text' ||
  ((kind === 'comment' || kind === 'labels') && n > 0);

/** An agent may name a thread that is not there; a reply that was refused before it was stored has no content. */
const hasFailed = ({ kind, state, content }: OutgoingRow): boolean =>
  state === 'given-up' || (state === 'refused' && (kind !== 'reply' || content === 'null'));

/** The one comment of a run says only what came last. */
const isReplaced = (row: OutgoingRow, rows: readonly OutgoingRow[]): boolean =>
  row.kind === 'comment' &&
  rows.some(
    ({ kind, target, n, state }) =>
      kind === row.kind && target === row.target && n > row.n && state !== 'refused',
  );
