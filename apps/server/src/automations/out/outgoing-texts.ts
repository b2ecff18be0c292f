import { dollarsText, pluralText, type RunReport } from '@belay/protocol';
import type { RunRecord, PublishedResult } from '../run-record.js';
import { neutralText } from './neutral-text.js';
import { markerOf } from './run-target.js';

const mostSummary = 6_000;
const mostWhy = 500;

/** The comment while a run is at work. */
export const beginText = (run: RunRecord, sessionPage: string | null): string =>
  marked(run, [
    sessionPage === null
      ? 'Belay is working on this.'
      : `Belay is working on this: [the session](${sessionPage}).`,
  ]);

/** The comment when a run has ended: what the server knows, and the agent’s summary as such. */
export function endComment(
  run: RunRecord,
  report: RunReport | null,
  sessionPage: string | null,
): string {
  const { why } = run;
  return marked(run, [
    `**Belay has ended its work.** ${why === null ? '' : neutralText(why, mostWhy)}`.trim(),
    knownLines(run, sessionPage)
      .map((line) => `- ${line}`)
      .join('\n'),
    report && `The agent says:\n\n${neutralText(summaryOf(report), mostSummary)}`,
  ]);
}

/** What the server knows by itself. */
function knownLines({ result, spent }: RunRecord, sessionPage: string | null): string[] {
  const lines: string[] = [];
  if (result) lines.push(...resultLines(result));
  if (spent > 0) lines.push(`Cost: ${dollarsText(spent / 1e6)}.`);
  if (sessionPage !== null) lines.push(`[The session](${sessionPage})`);
  return lines;
}

function resultLines({
  pullRequest,
  commit,
  changedFiles,
  checkExit,
  verdict,
}: PublishedResult): string[] {
  const lines: string[] = [];
  if (pullRequest) lines.push(`Pull request: ${pullRequest.url}`);
  else if (commit !== null)
    lines.push(
      `Pushed as ${commit.slice(0, 12)}, with ${pluralText(changedFiles, 'changed file')}.`,
    );
  if (checkExit === 0) lines.push('The check passed.');
  else if (checkExit !== null) lines.push(`The check ended with exit code ${checkExit}.`);
  if (verdict) lines.push(`Proof: **${verdict}**, by tests that the server ran again.`);
  return lines;
}

/** The comment in the place of one that is not sent. */
export const refusedText = (run: RunRecord): string =>
  marked(run, [
    '**Belay has ended its work, and published nothing:** its check of what it sends refused the result. Whoever runs this server finds the reason in the explanation of the run.',
  ]);

/** The text of a review: the agent’s summary, and what it says about lines that are not part of the change. */
export function reviewText(
  run: RunRecord,
  report: RunReport,
  outside: readonly RunReport['comments'][number][],
): string {
  const others = outside.map(
    ({ path, line, text }) =>
      `- ${neutralText(`${path}, line ${line}`, 300)}: ${indented(neutralText(text, mostComment))}`,
  );
  return marked(run, [
    neutralText(report.summary, mostSummary),
    others.length > 0 && `On lines that the change does not show:\n\n${others.join('\n')}`,
    'Written by an agent of Belay; nothing was approved.',
  ]);
}

const mostComment = 4_000;

export const lineText = (text: string): string => neutralText(text, mostComment);

export const replyText = (run: RunRecord, text: string): string =>
  marked(run, [neutralText(text, mostComment)]);

/** The text of a pull request; only here an issue is closed by it, which the server decides. */
export function pullRequestText(run: RunRecord, report: RunReport | null): string {
  const { definition, occurrence } = run;
  const closes = occurrence.event.startsWith('issue.') && occurrence.number;
  return marked(run, [
    report && neutralText(report.summary, mostSummary),
    closes && `Fixes #${closes}`,
    `Made by the automation \`${definition.name}\` of Belay.`,
  ]);
}

const summaryOf = ({ summary, noChange }: RunReport): string =>
  [summary, noChange && `Nothing was changed: ${noChange}`].filter(Boolean).join('\n\n');

const indented = (text: string): string => text.replaceAll('\n', '\n  ');

const marked = (
  run: RunRecord,
  parts: readonly (string | false | null | undefined | 0)[],
): string => [...parts.filter(Boolean), markerOf(run.id)].join('\n\n');
