import type { Trial } from '../model.js';
import { folderName } from './journal.js';
import { barPlot, escapeHtml, intervalPlot, scatterPlot } from './plots.js';
import type { Summary } from './summary.js';

/** One static page: numbers, plots, and each verdict with links to its record. */
export function page(summary: Summary, trials: Trial[], server: string | null): string {
  const { suite, agent, model, score, interval, passAt } = summary;
  const title = `${suite} · ${model ?? agent}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
<h1>${escapeHtml(title)}</h1>
<p class="score">${percent(score)} <small>${percent(interval[0])} to ${percent(interval[1])}, 95 %</small></p>
<p>${summary.passed} passed, ${summary.failed} failed, ${summary.invalid} invalid of ${summary.trials.all} trials; ${summary.tasks} tasks, ${summary.attempts} attempts each.</p>
${unfinished(summary)}${validity(summary)}
<h2>Score</h2>
${intervalPlot(score, interval)}
${section('pass@k', Object.keys(passAt).length > 0, () => barPlot(Object.entries(passAt).map(([label, value]) => ({ label, value, text: percent(value) }))))}
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
<table><thead><tr><th>task<th>attempt<th>verdict<th>why<th>seconds<th>record</thead>
<tbody>${trials.map((trial) => row(trial, server)).join('\n')}</tbody></table>
</html>
`;
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

const section = (title: string, shown: boolean, body: () => string) =>
  shown ? `<h2>${title}</h2>${body()}` : '';

const unfinished = ({ trials }: Summary) =>
  trials.done < trials.all
    ? `<p class="warning">Not finished: ${trials.all - trials.done} trials are missing.</p>`
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
      ? `; over these the score is ${percent(validScore)}`
      : ''
  }${unchecked > 0 ? `; ${unchecked} were not checked` : ''}.</p><ul>${list}</ul>`;
}

const points = (trials: Trial[], x: (trial: Trial) => number) =>
  trials.map((trial) => ({ x: x(trial), y: trial.verdict.reward, title: trial.task }));

function row(trial: Trial, server: string | null): string {
  const { task, attempt, verdict, seconds, session } = trial;
  const folder = `trials/${encodeURIComponent(`${folderName(task)}.${attempt}`)}`;
  const replay =
    session && server ? `<a href="${escapeHtml(`${server}/sessions/${session}`)}">replay</a> ` : '';
  return `<tr class="${verdict.outcome}"><td>${escapeHtml(task)}<td>${attempt}<td>${verdict.outcome}<td>${escapeHtml(verdict.outcome === 'pass' ? '' : verdict.detail.slice(0, 300))}<td>${(seconds.agent + seconds.verify).toFixed(1)}<td>${replay}<a href="${folder}/">answer and test log</a>`;
}

const style = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1d2329;background:#fff}
.score{font-size:2rem;margin:0}.score small{font-size:1rem;color:#5b6670}.warning{color:#9a5b00}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #e3e7ea;vertical-align:top}
.pass td:nth-child(3){color:#0a7a3d}.fail td:nth-child(3){color:#b3261e}.invalid td:nth-child(3){color:#9a5b00}
svg{max-width:100%;height:auto}svg text{font-size:11px;fill:#5b6670}.axis{stroke:#9aa5ad}.interval{stroke:#2f6fdd;stroke-width:4}.mark,.bar{fill:#2f6fdd}.dot{fill:#2f6fdd;fill-opacity:.45}
@media (prefers-color-scheme:dark){body{color:#e4e8eb;background:#15191d}th,td{border-color:#2b3238}}`;
