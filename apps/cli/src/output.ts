import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Writes to one stream; colours only where a person reads. */
export interface Output {
  /** Columns that a line has room for. */
  readonly width: number;
  line(text: string): void;
  style(style: Style, text: string): string;
}

export function outputTo(stream: NodeJS.WriteStream): Output {
  // A reader that leaves early, such as `head`, is not an error.
  if (!stream.listeners('error').includes(leftEarly)) stream.on('error', leftEarly);
  return {
    get width() {
      return Math.max(40, stream.columns ?? 120);
    },
    line: (text) => void stream.write(`${text}\n`),
    style: (style, text) => styleText(style, text, { stream }),
  };
}

function leftEarly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

/**
 * Text of an agent as a terminal may be given it: what would move the cursor, set the clipboard or
 * turn the direction of words is shown as a sign instead of done.
 */
export function visible(text: string): string {
  return (
    text
      .replace(/\r\n/g, '\n')
      // oxlint-disable-next-line no-control-regex
      .replace(/[\u0000-\u0008\u000b-\u001f]/g, (sign) =>
        String.fromCharCode(0x2400 + sign.charCodeAt(0)),
      )
      .replace(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
  );
}

/** Text on one line, shortened at the end. */
export function oneLine(text: string, width = 100): string {
  const flat = visible(text.replace(/\s+/g, ' ').trim());
  return flat.length > width ? `${flat.slice(0, width - 1)}…` : flat;
}

/** The first lines of a text, each at most `width` long; a last one says how much is left out. */
export function firstLines(text: string, most: number, width: number): string[] {
  const lines = linesOf(text);
  const shown = lines.slice(0, most).map((line) => shortened(line, width));
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, `… ${more} more ${more === 1 ? 'line' : 'lines'}`] : shown;
}

/** The last lines of an output, in the same way; what a carriage return overwrites was a progress bar. */
export function lastLines(text: string, most: number, width: number): string[] {
  const lines = linesOf(text.replace(/\r\n/g, '\n').replace(/^.*\r/gm, ''));
  const shown = lines.slice(-most).map((line) => shortened(line, width));
  const more = lines.length - shown.length;
  return more > 0 ? [`… ${more} ${more === 1 ? 'line' : 'lines'} before`, ...shown] : shown;
}

function linesOf(text: string): string[] {
  const shown = visible(text).replace(/^\n+|\s+$/g, '');
  return shown === '' ? [] : shown.split('\n');
}

const shortened = (line: string, width: number): string =>
  line.length > width ? `${line.slice(0, width - 1)}…` : line;
