import {
  dateTimeText,
  dollarsText,
  pluralText,
  type AutomationEvent,
  type ConsideredText,
  type RunExplanation,
} from '@belay/protocol';
import { runStateWords } from '../automation-words.js';
import { clientFor, type PrintOptions } from '../connection.js';
import { outputTo, singleLine, type LineOutput } from '../output.js';

/** `belay automations explain`. */
export async function explainRun(run: string, options: PrintOptions): Promise<void> {
  tellRun(await clientFor(options).automations.explain(run), options);
}

/** Prints a run as a story, or as JSON: what happened, who did it, what was read, decided, begun and sent. */
export function tellRun(explanation: RunExplanation, { json }: { json?: boolean }): void {
  const output = outputTo(process.stdout);
  if (json) return output.json(explanation);
  const { run } = explanation;
  const say = (text: string) => output.line(singleLine(text, Infinity));
  output.line(
    output.style(
      'bold',
      singleLine(`${run.automation} (version ${run.version}), ${run.id}`, Infinity),
    ),
  );
  for (const line of beginning(explanation)) say(line);
  tellTexts(explanation.findings.texts, output);
  tellDecisions(explanation, output);
  output.line('');
  say(`${runStateWords(run)}${run.why === null ? '' : `: ${run.why}`}`);
  for (const line of outcome(explanation)) say(line);
  tellOutgoing(explanation, output);
}

/** What happened, who did it, and on what. */
function beginning({ run, occurrence, findings }: RunExplanation): string[] {
  const { actor, permission, title, branch, base, sha, isFork } = findings;
  const named = title === null ? '' : ` “${title}”`;
  const detail = occurrence.label ?? occurrence.command ?? occurrence.verdict;
  const who = actor ?? occurrence.actor;
  return [
    `${dateTimeText(occurrence.at)}: ${eventWords[run.event]}${aboutWords(run)}${named}${detail === undefined ? '' : ` (${detail})`}`,
    ...(who === null
      ? []
      : [
          `By ${who.name} (${who.id})${who.isBot ? ', a bot' : ''}${permission === null ? '' : `, whose permission is ${permission}`}.`,
        ]),
    ...(branch === null && sha === null
      ? []
      : [
          `On ${[branch, base === null ? null : `into ${base}`, sha === null ? null : `at ${sha.slice(0, 12)}`].filter((part) => part !== null).join(' ')}${isFork ? ', of a fork' : ''}.`,
        ]),
    `Lane ${run.lane}.`,
  ];
}

/** What it is about, after the words of its event. */
function aboutWords({ subject, event }: RunExplanation['run']): string {
  if (subject === event) return '';
  return event === 'hand' ? `, on ${subject}` : ` ${subject}`;
}

const eventWords: Record<AutomationEvent, string> = {
  'issue.opened': 'an issue was opened:',
  'issue.labelled': 'an issue was labelled:',
  'issue.assigned': 'an issue was assigned:',
  'issue.command': 'a command was written on',
  'pull.opened': 'a pull request was opened:',
  'pull.updated': 'a pull request got new commits:',
  'pull.labelled': 'a pull request was labelled:',
  'pull.reviewed': 'a pull request was reviewed:',
  'pull.commented': 'a comment was written on',
  'pull.command': 'a command was written on',
  'checks.failed': 'checks failed:',
  'checks.passed': 'checks passed:',
  push: 'commits were pushed:',
  'release.published': 'a release was published:',
  schedule: 'its time came',
  url: 'its URL was called',
  'session.ended': 'a session ended:',
  hand: 'a user began it',
};

function tellTexts(texts: readonly ConsideredText[], output: LineOutput): void {
  if (texts.length === 0) return;
  output.line('');
  output.line('Texts');
  for (const { kind, author, level, used, removed } of texts) {
    const by = author === null ? '' : ` by ${author}${level === null ? '' : ` (${level})`}`;
    const hidden = removed === 0 ? '' : `, ${pluralText(removed, 'hidden part')} removed`;
    const mark = used === 'left-out' ? cross(output) : tick(output);
    output.line(`  ${mark} ${singleLine(`${kind}${by}: ${usedWords[used]}${hidden}`)}`);
  }
}

const usedWords: Record<ConsideredText['used'], string> = {
  task: 'used as part of the task',
  quoted: 'quoted as data',
  'left-out': 'left out',
};

function tellDecisions({ decisions }: RunExplanation, output: LineOutput): void {
  if (decisions.length === 0) return;
  output.line('');
  output.line('Decisions');
  for (const { check, holds, why } of decisions)
    output.line(
      `  ${holds ? tick(output) : cross(output)} ${singleLine(`${check}: ${why}`, Infinity)}`,
    );
}

/** What came of it, and where to look. */
function outcome({ run }: RunExplanation): string[] {
  return [
    ...(run.session === null
      ? []
      : [
          `Session ${run.session}${run.dollars > 0 ? `, ${dollarsText(run.dollars)}` : ''}. Its log: belay log ${run.session}`,
        ]),
    ...(run.check === null
      ? []
      : [`The check \`${run.check.command}\` exited with ${run.check.exitCode}.`]),
    ...(run.pullRequest === null ? [] : [`Pull request ${run.pullRequest.url}`]),
  ];
}

function tellOutgoing({ outgoing }: RunExplanation, output: LineOutput): void {
  if (outgoing.length === 0) return;
  output.line('');
  output.line('Sent');
  for (const { kind, target, state, url, why } of outgoing) {
    const mark = state === 'sent' ? tick(output) : state === 'planned' ? '…' : cross(output);
    const more = [state === 'sent' ? null : state, why, url].filter((part) => part !== null);
    const words = `${kind} ${target}${more.length > 0 ? `: ${more.join(', ')}` : ''}`;
    output.line(`  ${mark} ${singleLine(words, Infinity)}`);
  }
}

const tick = (output: LineOutput): string => output.style('green', '✓');
const cross = (output: LineOutput): string => output.style('red', '✗');
