import { percentText, pluralText } from '@belay/protocol';
import type { Trial } from '../model.js';
import { folderName } from '../folder-name.js';
import { barPlot, escapeHtml, intervalPlot, scatterPlot } from './plots.js';
import type { Summary } from './summary.js';

/** One static page: numbers, plots, and each verdict with links to its record. */
export function page(
  summary: Summary,
  trials: Trial[],
  { server, logOf }: { server: string | null; logOf(trial: Trial): string | null },
): string {
  const { suite, agent, model, score, interval, passAt } = summary;
  const title = `${suite} · ${model ?? agent}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
<h1>${escapeHtml(title)}</h1>
<p class="score">${headline(summary)}</p>
<p>${summary.passed} passed, ${summary.failed} failed, ${summary.invalid} invalid of ${summary.trials.all} trials; ${summary.tasks} tasks, ${summary.attempts} attempts each.</p>
${missed(summary)}${edits(summary)}${doubts(summary)}${validity(summary)}
<h2>Score</h2>
${intervalPlot(score, interval)}
${groups(summary)}${section('pass@k', Object.keys(passAt).length > 0, () => barPlot(Object.entries(passAt).map(([label, value]) => ({ label, value, text: percentText(value) }))))}
${section('Why trials did not pass', Object.keys(summary.causes).length > 0, () => barPlot(Object.entries(summary.causes).map(([label, value]) => ({ label: label.replace('_', ' '), value, text: String(value) }))))}
${section('Cost against reward', summary.dollars > 0, () =>
  scatterPlot(
    points(trials, ({ dollars }) => dollars),
    'dollars',
  ),
)}
<h2>Time against reward</h2>
${scatterPlot(
  points(trials, ({ seconds }) => seconds.agent + seconds.verify),
  'seconds',
)}
<h2>Trials</h2>
<table><thead><tr><th>task<th>attempt<th>verdict<th>why<th>seconds<th>place<th>record</thead>
<tbody>${rows(summary, trials, (trial) => row(trial, server, logOf(trial)))}</tbody></table>
${origin(summary)}</html>
`;
}

const section = (title: string, shown: boolean, body: () => string) =>
  shown ? `<h2>${title}</h2>${body()}` : '';

const missed = ({ notAttempted, tasks }: Summary) =>
  notAttempted > 0
    ? `<p class="warning">${notAttempted} of ${tasks} tasks were not attempted: they count as 0.</p>\n`
    : '';

const headline = ({ score, interval: [low, high], trials }: Summary) =>
  trials.done < trials.all
    ? `Not finished: ${trials.done} of ${trials.all} trials <small>${percentText(score)} so far; missing trials count as 0</small>`
    : `${percentText(score)} <small>${percentText(low)} to ${percentText(high)}, 95%</small>`;

const edits = ({ edited }: Summary) =>
  edited.length > 0
    ? `<p class="warning">${pluralText(edited.length, 'trial has changed since it was', 'trials have changed since they were')} recorded. Delete their lines in results.jsonl, and resume the run.</p><ul>${edited
        .map(({ task, attempt }) => `<li>${escapeHtml(`${task} (${attempt})`)}`)
        .join('')}</ul>\n`
    : '';

function validity({ validity: checked, validScore, tasks }: Summary): string {
  if (!checked) return '<p class="warning">The tasks were not checked by a preflight.</p>';
  const { flagged } = checked;
  const list = flagged
    .map(({ task, why }) => `<li>${escapeHtml(task)}: ${escapeHtml(why)}`)
    .join('');
  const unchecked = tasks - checked.checked;
  return `<p>Preflight: ${checked.checked - flagged.length} of ${checked.checked} tasks are valid${
    validScore !== null && (flagged.length > 0 || unchecked > 0)
      ? `; over these the score is ${percentText(validScore)}`
      : ''
  }${unchecked > 0 ? `; ${unchecked} were not checked` : ''}.</p><ul>${list}</ul>`;
}

const doubts = ({ doubtful }: Summary) =>
  doubtful.length > 0
    ? `<p class="warning">${pluralText(doubtful.length, 'pass is', 'passes are')} doubtful: look at the answers.</p><ul>${doubtful
        .map(({ task, attempt, why }) => `<li>${escapeHtml(`${task} (${attempt}): ${why}`)}`)
        .join('')}</ul>\n`
    : '';

/** A table for each label, such as the language. */
function groups({ groups: all, attempts }: Summary): string {
  const labels = [...new Set(all.map(({ label }) => label))];
  return labels
    .map((label) => {
      const rows = all
        .filter((group) => group.label === label)
        .map(
          ({ name, tasks, passed, score }) =>
            `<tr><td>${escapeHtml(name)}<td>${passed} of ${tasks * attempts}<td>${percentText(score)}`,
        );
      return `<h2>By ${escapeHtml(label)}</h2>\n<table><thead><tr><th>${escapeHtml(label)}<th>passed<th>score</thead><tbody>${rows.join('\n')}</tbody></table>\n`;
    })
    .join('');
}

const ranks = { fail: 0, invalid: 1, pass: 2 };

/** Failures first, then tasks not attempted, then passes. */
function rows({ missing }: Summary, trials: Trial[], rowOf: (trial: Trial) => string): string {
  const sorted = trials.toSorted((a, b) => ranks[a.verdict.outcome] - ranks[b.verdict.outcome]);
  const passes = sorted.findIndex(({ verdict }) => verdict.outcome === 'pass');
  const at = passes < 0 ? sorted.length : passes;
  return [
    ...sorted.slice(0, at).map(rowOf),
    ...missing.map(missingRow),
    ...sorted.slice(at).map(rowOf),
  ].join('\n');
}

const missingRow = (task: string) =>
  `<tr class="invalid"><td>${escapeHtml(task)}<td><td>not attempted<td>counts as 0<td><td><td>`;

/** What the score depends on besides data and agent. */
function origin({ provenance: from, suite }: Summary): string {
  if (!from) return '';
  const { host } = from;
  const lines: [string, string][] = [
    ['Harness', `Belay ${from.version}, Node ${from.node}`],
    ['Data', `${suite}, hash ${from.data ?? 'unknown'}`],
    ['Network', `tasks: ${from.network}; builds: ${from.buildNetwork}`],
    [
      'Host',
      `${host.name}: ${host.system}, ${host.cpus} × ${host.processor}, ${host.memoryMb} MiB; ${from.engine}`,
    ],
    ...Object.entries(from.images).map(([name, id]): [string, string] => [
      'Image',
      `${name} ${id}`,
    ]),
  ];
  return `<h2>Provenance</h2>\n<table><tbody>${lines
    .map(([name, value]) => `<tr><th>${name}<td>${escapeHtml(value)}`)
    .join('\n')}</tbody></table>\n`;
}

const points = (trials: Trial[], x: (trial: Trial) => number) =>
  trials.map((trial) => ({ x: x(trial), y: trial.verdict.reward, title: trial.task }));

function row(trial: Trial, server: string | null, log: string | null): string {
  const { task, attempt, verdict, seconds, session, place, sessionPlace } = trial;
  const where = sessionPlace === undefined ? (place ?? '') : `${place}, session: ${sessionPlace}`;
  const folder = `trials/${encodeURIComponent(`${folderName(task)}.${attempt}`)}`;
  const replay =
    session && server ? `<a href="${escapeHtml(`${server}/sessions/${session}`)}">replay</a> ` : '';
  const why = verdict.outcome === 'pass' ? (verdict.flags ?? []).join(' ') : verdict.detail;
  const own = log
    ? `<a href="${log.split('/').map(encodeURIComponent).join('/')}">agent’s log</a> `
    : '';
  return `<tr class="${verdict.outcome}"><td>${escapeHtml(task)}<td>${attempt}<td>${verdict.outcome}<td>${escapeHtml(why.slice(0, 300))}<td>${(seconds.agent + seconds.verify).toFixed(1)}<td>${escapeHtml(where)}<td>${replay}${own}<a href="${folder}/">answer and test log</a>`;
}

const style = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1d2329;background:#fff}
.score{font-size:2rem;margin:0}.score small{font-size:1rem;color:#5b6670}.warning{color:#9a5b00}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #e3e7ea;vertical-align:top}
.pass td:nth-child(3){color:#0a7a3d}.fail td:nth-child(3){color:#b3261e}.invalid td:nth-child(3){color:#9a5b00}
svg{max-width:100%;height:auto}svg text{font-size:11px;fill:#5b6670}.axis{stroke:#9aa5ad}.interval{stroke:#2f6fdd;stroke-width:4}.mark,.bar{fill:#2f6fdd}.dot{fill:#2f6fdd;fill-opacity:.45}
@media (prefers-color-scheme:dark){body{color:#e4e8eb;background:#15191d}th,td{border-color:#2b3238}}`;
