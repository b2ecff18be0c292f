import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Writes to one stream; colours only where a person reads. */
export interface Output {
  line(text: string): void;
  style(style: Style, text: string): string;
}

export function outputTo(stream: NodeJS.WriteStream): Output {
  // A reader that leaves early, such as `head`, is not an error.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return {
    line: (text) => void stream.write(`${text}\n`),
    style: (style, text) => styleText(style, text, { stream }),
  };
}

/** Text on one line, shortened at the end. */
export function oneLine(text: string, width = 100): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > width ? `${flat.slice(0, width - 1)}…` : flat;
}
