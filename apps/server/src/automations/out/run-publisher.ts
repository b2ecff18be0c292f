import { Injectable } from '@nestjs/common';
import {
  api,
  AppError,
  errorFrom,
  routeName,
  type PublishedChange,
  type RunReport,
  type StatedAutomation,
} from '@belay/protocol';
import { AuditLog } from '../../access/audit-log.js';
import type { Caller } from '../../access/caller.js';
import { EventLog } from '../../logs/event-log.js';
import type { PreparedPush } from '../../publishing/publish-preparation.js';
import { PublishingService, type PublishTerms } from '../../publishing/publishing.service.js';
import { lease } from '../../storage/lease.js';
import { byItself } from '../definitions/by-itself.js';
import { recordAct } from '../record-act.js';
import { RunRefusal, type RunRecord } from '../run-record.js';
import { addedText } from './added-text.js';
import { OutgoingCheck } from './outgoing-check.js';
import { OutgoingStore } from './outgoing.store.js';
import {
  assertProven,
  isPassing,
  movedBranch,
  movedBy,
  Unpublished,
  unpublishedBy,
  reportedVerdict,
  withoutChanges,
  type PublishedRun,
  type UnpublishedEnd,
} from './published-run.js';
import { refusedFiles } from './publish-limits.js';
import { PushPlans, type PushPlan } from './push-plans.js';
import { notePush, planPush, pushRowOf, refusePush, type PushRow } from './push-rows.js';

/** What was seen of a change on its way out. */
interface Seen {
  tree: string | null;
  files: number;
}

interface Work {
  run: RunRecord;
  session: string;
  report: RunReport | null;
  plan: PushPlan;
  seen: Seen;
}

/**
 * Publishes the changes of runs with their proof: what a definition allows, after the check of all texts, and with the
 * verdict that it asks for. A push is stored before it is sent; after a kill, the same request leads to the same commit.
 */
@Injectable()
export class RunPublisher {
  constructor(
    private readonly log: EventLog,
    private readonly publishing: PublishingService,
    private readonly plans: PushPlans,
    private readonly store: OutgoingStore,
    private readonly check: OutgoingCheck,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Throws a `RunRefusal` for a branch that has moved or is not to be pushed to, `forbidden` for what the check of
   * outgoing texts refuses, and what the git host answers. May be repeated until it returns.
   */
  async publish(run: RunRecord, report: RunReport | null): Promise<PublishedRun> {
    const { session } = run;
    if (session === null) throw new AppError('internal', 'A run without a session has no changes.');
    const known = await pushRowOf(this.store, run.id);
    if (known?.result) return known.result;
    const seen: Seen = { tree: null, files: 0 };
    const checkExit = await this.#checkExit(session);
    const ended = (end: UnpublishedEnd): PublishedRun => ({
      tree: seen.tree,
      changedFiles: seen.files,
      checkExit,
      commit: null,
      pullRequest: null,
      verdict: null,
      ...end,
    });
    const plan = await this.#planOf(run, session, report);
    if (!plan) return ended(withoutChanges(report));
    try {
      return await this.#publish({ run, session, report, plan, seen }, known, ended);
    } catch (thrown) {
      if (isPassing(thrown)) throw thrown;
      const { branch } = plan.request;
      const error = plan.tip === null ? thrown : movedBy(thrown, branch);
      const end = unpublishedBy(error, report);
      const result = end ? ended(end) : null;
      const why = result?.why ?? errorFrom(error).message;
      await refusePush(this.store, run.id, { branch, why, result });
      // Where there is nothing to publish, nothing was refused either.
      const outcome = end ? 'rejected' : errorFrom(error).code;
      if (end?.outcome !== 'nothing')
        recordAct(this.audit, run, { action, outcome, what: `${branch}: ${why}` });
      if (result) return result;
      throw error;
    }
  }

  async #checkExit(session: string): Promise<number | null> {
    const { check } = await this.log.summary(session);
    return check?.state === 'ended' ? check.exitCode : null;
  }

  async #planOf(
    run: RunRecord,
    session: string,
    report: RunReport | null,
  ): Promise<PushPlan | null> {
    try {
      return await this.plans.of(run, session, report);
    } catch (error) {
      if (error instanceof RunRefusal)
        await refusePush(this.store, run.id, {
          branch: run.findings.branch ?? '',
          why: error.message,
          result: null,
        });
      throw error;
    }
  }

  async #publish(
    work: Work,
    known: PushRow | null,
    ended: (end: UnpublishedEnd) => PublishedRun,
  ): Promise<PublishedRun> {
    const planned = (known?.request && known) || (await this.#prepare(work, false));
    const change = await this.#send(work, planned).catch((error: unknown) => {
      // It was planned before a kill, and something was pushed or changed since.
      if (!known?.request || error instanceof Unpublished || errorFrom(error).code !== 'conflict')
        throw error;
      return null;
    });
    if (!change) {
      const again = await this.#prepare(work, true);
      return this.#note(work, again, await this.#send(work, again), ended);
    }
    return this.#note(work, planned, change, ended);
  }

  /** Checks what can be checked before anything is fetched twice, and stores the push. */
  async #prepare({ run, session, plan, seen, report }: Work, isOurs: boolean): Promise<PushRow> {
    const shown = await this.publishing.prepare(session, plan.request, callerOf(run, session));
    seen.files = shown.files.length;
    const { branch, isNewBranch, parent, files, refusals } = shown;
    if (plan.tip !== null && (isNewBranch || parent !== plan.tip)) throw movedBranch(branch);
    if (plan.tip === null && !isNewBranch && !isOurs && !plan.isOpen)
      throw new Unpublished({
        outcome: 'stuck',
        why: `The branch ${branch} exists already, and is not of this run: remove it, or change out.pullRequest.branch.`,
      });
    const refused = refusedFiles(files, plan.limits) ?? refusals.find(isFinal(plan))?.message;
    if (refused !== undefined && refused !== null)
      throw new Unpublished({ outcome: 'stuck', why: refused });
    if (run.definition.proof.reproduction === 'required' && !plan.request.reproduction)
      throw new Unpublished({
        outcome: 'nothing',
        why: 'Nothing was published: a reproduction is required, and the agent named none.',
      });
    await this.#check([...textsOf(plan), ...spokenBy(report), ...files.map(({ path }) => path)]);
    const request = { ...plan.request, id: shown.id };
    return planPush(this.store, run.id, { request, files: files.length });
  }

  async #send({ run, session, plan, report, seen }: Work, { request }: PushRow) {
    if (!request) throw new AppError('internal', 'The push was not planned.');
    lease.assertHeld();
    const { proof, run: settings } = run.definition;
    const { commands, repeat, seconds, setup, testFiles } = proof;
    const runs = request.reproduction || settings.check ? repeat * 2 + 4 : 0;
    const setupSeconds = 2 * (setup?.seconds ?? 0);
    const terms: PublishTerms = {
      automation: statedAutomationOf(run),
      reruns:
        runs === 0
          ? undefined
          : {
              commands,
              repeat,
              seconds,
              totalSeconds: Math.min(seconds * runs + setupSeconds, longestSeconds),
              ...(setup && { setup }),
              ...(testFiles && { testFiles }),
            },
      inspect: async (prepared, signal) => {
        seen.tree = prepared.tree;
        seen.files = prepared.shown.files.length;
        await this.#inspect(prepared, { plan, report, signal });
      },
      accept: (reruns) => assertProven(proof.reproduction, reruns),
    };
    return this.publishing.publish(session, request, callerOf(run, session), terms);
  }

  /** What is pushed, not what was shown before. */
  async #inspect(
    { shown, repository, tree }: PreparedPush,
    { plan, report, signal }: { plan: PushPlan; report: RunReport | null; signal: AbortSignal },
  ): Promise<void> {
    const why = refusedFiles(shown.files, plan.limits);
    if (why !== null) throw new Unpublished({ outcome: 'stuck', why });
    const range = { from: shown.parent, to: tree, maxBytes: plan.limits.bytes, signal };
    const added = await addedText(repository, range);
    if (added === null)
      throw new Unpublished({
        outcome: 'stuck',
        why: `The change has more than ${plan.limits.bytes} bytes, which out.pullRequest.bytes does not allow.`,
      });
    const paths = shown.files.map(({ path }) => path);
    await this.#check([...textsOf(plan), ...spokenBy(report), ...paths, added]);
  }

  async #check(texts: string[]): Promise<void> {
    const refusal = await this.check.refusalOf(texts);
    if (refusal !== null) throw new AppError('forbidden', refusal);
  }

  async #note(
    { run, plan, seen }: Work,
    row: PushRow,
    change: PublishedChange,
    ended: (end: UnpublishedEnd) => PublishedRun,
  ): Promise<PublishedRun> {
    const { commit, reruns, problem, pullRequest } = change;
    const verdict = reportedVerdict(reruns);
    const isMissing = plan.request.pullRequest !== null && pullRequest === null;
    const isProven =
      verdict === 'confirmed' ||
      (run.definition.proof.reproduction === 'none' && verdict !== 'refuted');
    const where = pullRequest ? pullRequest.url : `the branch ${change.branch}`;
    const result: PublishedRun = {
      ...ended({
        verdict,
        outcome: isMissing ? 'stuck' : isProven ? 'published' : 'speculative',
        why: isMissing
          ? `It was pushed to ${where}, but no pull request was opened. ${problem ?? ''}`.trim()
          : `It was published as ${where}${isProven ? '' : ', without a confirmed reproduction'}.`,
      }),
      // After a kill, the change was not compared again.
      changedFiles: seen.files || row.files,
      commit,
      pullRequest: pullRequest && {
        url: pullRequest.url,
        number: pullRequest.number,
        into: change.url,
      },
    };
    await notePush(this.store, row, { result, change });
    recordAct(this.audit, run, { action, what: `${commit.slice(0, 12)} to ${where}` });
    return result;
  }
}

/** As when a user publishes. */
const action = routeName(api.sessions.publish);

/** For all commands of one push. */
const longestSeconds = 4 * 3_600;

/** Sees the one session, with the rights by which it was begun. */
const callerOf = ({ automation }: RunRecord, session: string): Caller => ({
  ...byItself(automation).caller,
  scope: 'operate',
  sessions: new Set([session]),
  begins: false,
  expires: null,
});

/** The names of users at a git host may be no whole text, and a signed one must be. */
function statedAutomationOf({ id, automation, version, occurrence }: RunRecord): StatedAutomation {
  const { event, actor } = occurrence;
  return {
    name: automation.name,
    version,
    run: id,
    event,
    actor: actor && { id: actor.id.toWellFormed(), name: actor.name.toWellFormed() },
  };
}

const isFinal =
  ({ request }: PushPlan) =>
  ({ needs }: { needs: 'default-branch' | 'ci-files' }): boolean =>
    !request.allow.includes(needs);

function textsOf({ request }: PushPlan): string[] {
  const { branch, message, pullRequest } = request;
  return [branch, message, pullRequest?.title ?? '', pullRequest?.body ?? ''];
}

/** As the agent wrote it, since another form of it may be sent later. */
const spokenBy = (report: RunReport | null): string[] =>
  report
    ? [
        report.summary,
        report.title ?? '',
        report.noChange ?? '',
        ...report.comments.flatMap(({ path, text }) => [path, text]),
        ...report.replies.map(({ text }) => text),
      ]
    : [];
