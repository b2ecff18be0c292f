import { styleText } from 'node:util';
import { pluralText, visibleJson, visibleText } from '@belay/protocol';
import { truncated } from './display-width.js';

type Style = Parameters<typeof styleText>[0];

/** Writes to one stream; in color only at a terminal. */
export interface LineOutput {
  /** Columns of a line. */
  readonly width: number;
  /** Writes text with styles; other control characters are made visible. */
  line(text: string): void;
  json(value: unknown, indent?: number): void;
  style(style: Style, text: string): string;
}

export function outputTo(stream: NodeJS.WriteStream): LineOutput {
  // A closed pipe, for example of `head`, is not an error.
  if (!stream.listeners('error').includes(ignoreClosedPipe)) stream.on('error', ignoreClosedPipe);
  return {
    get width() {
      return Math.max(40, stream.columns ?? 120);
    },
    line: (text) => void stream.write(`${visibleButStyles(text)}\n`),
    json: (value, indent) => void stream.write(`${visibleJson(value, indent)}\n`),
    style: (style, text) => styleText(style, text, { stream }),
  };
}

/** Lines contain no escape sequences except styles. */
function visibleButStyles(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const parts = text.split(/(\u001b\[[\d;]*m)/);
  return parts.map((part, index) => (index % 2 === 1 ? part : visibleText(part))).join('');
}

/** Prints a command’s result: the value as JSON, or sentences. */
export function printResult(
  { json }: { json?: boolean },
  value: unknown,
  ...sentences: string[]
): void {
  const output = outputTo(process.stdout);
  if (json) output.json(value);
  else for (const sentence of sentences) output.line(sentence);
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

export const progressBar = (share: number, columns = 20): string =>
  '█'.repeat(Math.round(share * columns)).padEnd(columns, '░');

/** Text on one line, shortened at the end unless the width is infinite: whatever it names cannot look like a line of ours. */
export function singleLine(text: string, width = 100): string {
  return truncated(visibleText(text.replace(/\s+/g, ' ').trim()), width);
}

/** The first lines of a text, each at most `width` long; a last line counts the omitted ones. */
export function headLines(text: string, most: number, width: number): string[] {
  const lines = linesOf(text);
  const shown = lines.slice(0, most).map((line) => truncated(line, width));
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, `… ${pluralText(more, 'more line')}`] : shown;
}

/** The last lines of an output, in the same way; text overwritten after a carriage return is dropped. */
export function tailLines(text: string, most: number, width: number): string[] {
  const lines = linesOf(text.replace(/\r\n/g, '\n').replace(/^.*\r/gm, ''));
  const shown = lines.slice(-most).map((line) => truncated(line, width));
  const more = lines.length - shown.length;
  return more > 0 ? [`… ${pluralText(more, 'line')} before`, ...shown] : shown;
}

function linesOf(text: string): string[] {
  const shown = visibleText(text).replace(/^\n+/, '').trimEnd();
  return shown === '' ? [] : shown.split('\n');
}
