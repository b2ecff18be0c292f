import { Injectable } from '@nestjs/common';
import { runOutcome, type RunReport } from '@belay/protocol';
import { Config } from '../../config.js';
import type { NewLineComment } from '../forges/forge.js';
import type { RunRecord } from '../run-record.js';
import { OutgoingCheck } from './outgoing-check.js';
import {
  beginText,
  endComment,
  lineText,
  refusedText,
  replyText,
  reviewText,
} from './outgoing-texts.js';
import type { PlannedItem } from './outgoing.store.js';
import { PullLines } from './pull-lines.js';
import { PullTexts } from './pull-texts.js';
import { forgeSubjectOf, targetOf } from './run-target.js';

type LineComment = RunReport['comments'][number];

/** What is to be sent at the begin and at the end of a run. */
@Injectable()
export class OutgoingPlans {
  constructor(
    private readonly config: Config,
    private readonly check: OutgoingCheck,
    private readonly lines: PullLines,
    private readonly pullTexts: PullTexts,
  ) {}

  ofBegin(run: RunRecord): PlannedItem[] {
    const subject = forgeSubjectOf(run);
    if (!subject) return [];
    const { out } = run.definition;
    const target = targetOf(subject);
    const items: PlannedItem[] = [];
    if (out.reaction) {
      const content = { comment: reactedTo(run) };
      items.push({ kind: 'reaction', target, n: 0, content });
    }
    if (out.labels && out.labels.remove.length > 0)
      items.push({ kind: 'labels', target, n: 0, content: { add: [], remove: out.labels.remove } });
    if (out.comment) {
      const body = beginText(run, this.#page(run));
      items.push({ kind: 'comment', target, n: 0, content: { body } });
    }
    return items;
  }

  /** Checks all texts together, as a secret may be spread over them. */
  async ofEnd(run: RunRecord, report: RunReport | null): Promise<PlannedItem[]> {
    const spoken = await this.#spoken(run, report);
    const pull = await this.pullTexts.of(run);
    const items = pull ? [...spoken, pull.item] : spoken;
    const texts = items.flatMap(({ content }) => textsIn(content)).concat(pull?.proof ?? []);
    const refusal = texts.length > 0 ? await this.check.refusalOf(texts) : null;
    const checked =
      refusal === null ? items : items.flatMap((item) => inPlaceOf(item, run, refusal));
    return [...checked, ...labelsAfter(run)];
  }

  async #spoken(run: RunRecord, report: RunReport | null): Promise<PlannedItem[]> {
    const subject = forgeSubjectOf(run);
    if (!subject) return [];
    const { out } = run.definition;
    const target = targetOf(subject);
    const items: PlannedItem[] = [];
    if (report && subject.isPull && isDone(run)) {
      if (out.review) {
        const content = await this.#review(run, report);
        items.push({ kind: 'review', target, n: 0, content });
      }
      items.push(...repliesOf(run, report, target));
    }
    if (out.comment)
      items.push({
        kind: 'comment',
        target,
        n: 1,
        content: { body: endComment(run, report, this.#page(run)) },
      });
    return items;
  }

  /** Comments on other lines than those of the change would have the whole review refused. */
  async #review(run: RunRecord, report: RunReport): Promise<unknown> {
    const sha = run.findings.sha ?? '';
    const most = run.definition.out.review?.max ?? 0;
    const shown = await this.lines.of(run);
    const fits = ({ path, line, side }: LineComment): boolean => shown({ path, line, side });
    const inside = report.comments.filter(fits).slice(0, most);
    const outside = report.comments.filter((one) => !inside.includes(one)).slice(0, most);
    const comments: NewLineComment[] = inside.map(({ path, line, side, text }) => ({
      path,
      line,
      side,
      body: lineText(text),
    }));
    return { sha, body: reviewText(run, report, outside), comments };
  }

  #page({ session }: RunRecord): string | null {
    const { publicUrl } = this.config;
    return publicUrl !== undefined && session !== null ? `${publicUrl}/sessions/${session}` : null;
  }
}

/** One for each thread, which its sender looks for in the pull request. */
function repliesOf(run: RunRecord, { replies }: RunReport, target: string): PlannedItem[] {
  const most = run.definition.out.replies?.max ?? 0;
  const byThread = new Map(replies.map((reply) => [reply.thread, reply]));
  return [...byThread.values()].slice(0, most).map(({ thread, text }, n) => ({
    kind: 'reply',
    target,
    n,
    content: { thread, body: replyText(run, text) },
  }));
}

/** What is refused is not even stored. The server’s own words take the place of the comment. */
function inPlaceOf(item: PlannedItem, run: RunRecord, why: string): PlannedItem[] {
  const refused = { ...item, content: null, refused: why };
  if (item.kind !== 'comment') return [refused];
  return [
    { ...item, content: { body: refusedText(run) } },
    { ...refused, n: item.n + 1 },
  ];
}

/** Whether something came of it; else only its comment says what was in the way. */
const isDone = ({ code }: RunRecord): boolean =>
  code === null || runOutcome.safeParse(code).success;

function labelsAfter(run: RunRecord): PlannedItem[] {
  const { result, definition } = run;
  const items: PlannedItem[] = [];
  const subject = forgeSubjectOf(run);
  const add = definition.out.labels?.add ?? [];
  if (subject && add.length > 0 && isDone(run))
    items.push({ kind: 'labels', target: targetOf(subject), n: 1, content: { add, remove: [] } });
  const labels = definition.out.pullRequest?.labels ?? [];
  if (result?.pullRequest && labels.length > 0) {
    const target = targetOf({ number: result.pullRequest.number, isPull: true });
    items.push({ kind: 'labels', target, n: 2, content: { add: labels, remove: [] } });
  }
  return items;
}

/** All strings of a content. */
function textsIn(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  if (typeof content !== 'object' || content === null) return [];
  return Object.values(content).flatMap(textsIn);
}

/** A command is in a comment; a review takes no reactions. */
const reactedTo = ({ occurrence: { event, comment } }: RunRecord): string | null =>
  (event.endsWith('.command') && comment) || null;
