import { oneLine, type Output } from './output.js';

const step = /^\s*[-*]\s+\[( |x)\]\s+(.*)$/i;

/** A plan, whole the first time and then only what is new in it. */
export function planLines(markdown: string, before: string, output: Output): string[] {
  const { style, width } = output;
  const old = new Set(before.split('\n'));
  const lines = markdown.split('\n').filter((line) => line.trim() !== '');
  const steps = lines.filter((line) => step.test(line));
  const done = steps.filter((line) => step.exec(line)?.[1] !== ' ').length;
  const heading = lines.find((line) => line.startsWith('#'))?.replace(/^#+\s*/, '');
  const title = before === '' && heading ? heading : 'Plan';
  const news = lines.filter((line) => !old.has(line) && !line.startsWith('#'));
  if (before !== '' && news.length === 0) return [];
  return [
    `${style('cyan', '☰')} ${style('bold', oneLine(title, width - 16))}${
      steps.length > 0 ? style('dim', ` · ${done} of ${steps.length}`) : ''
    }`,
    ...news.map((line) => `  ${stepLine(line, output)}`),
  ];
}

function stepLine(line: string, { style, width }: Output): string {
  const [, mark, text] = step.exec(line) ?? [];
  if (text === undefined) return oneLine(line, width - 2);
  return `${mark === ' ' ? style('dim', '○') : style('green', '✓')} ${oneLine(text, width - 4)}`;
}
