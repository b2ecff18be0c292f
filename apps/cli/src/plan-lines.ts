import { planProgress, planStep } from '@belay/protocol';
import { singleLine, type LineOutput } from './output.js';

/** Prints a plan: completely the first time, then only new lines. */
export function planLines(markdown: string, before: string, output: LineOutput): string[] {
  const { style, width } = output;
  const old = new Set(before.split('\n'));
  const lines = markdown.split('\n').filter((line) => line.trim() !== '');
  const { steps, done } = planProgress(markdown);
  const heading = lines.find((line) => line.startsWith('#'))?.replace(/^#+\s*/, '');
  const title = before === '' && heading ? heading : 'Plan';
  const news = lines.filter((line) => !old.has(line) && !line.startsWith('#'));
  if (before !== '' && news.length === 0) return [];
  return [
    `${style('cyan', '☰')} ${style('bold', singleLine(title, width - 16))}${
      steps > 0 ? style('dim', ` · ${done} of ${steps}`) : ''
    }`,
    ...news.map((line) => `  ${stepLine(line, output)}`),
  ];
}

function stepLine(line: string, { style, width }: LineOutput): string {
  const step = planStep(line);
  if (!step) return singleLine(line, width - 2);
  const mark = step.done ? style('green', '✓') : style('dim', '○');
  return `${mark} ${singleLine(step.text, width - 4)}`;
}
