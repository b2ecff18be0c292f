import { hiddenCharacters, isJoinerAt } from './hidden-characters.js';
import { shownMarkdown } from './shown-markdown.js';

export interface UntrustedText {
  text: string;
  /** How many hidden characters, comments and other parts that its page does not show were removed. */
  removed: number;
}

/** The longest result, in bytes of UTF-8. */
const maxBytes = 65_536;
/** No more is looked at. */
const maxRead = 262_144;
const maxRounds = 8;

/**
 * Markdown of a git host as users see it there, so that a model reads no more than they do: without comments,
 * tags and hidden characters, with addresses in the open, without encoded data, and of bounded length. Cleaning it again
 * changes nothing.
 */
export const untrustedText = (text: string): UntrustedText => cleaned(text, shownMarkdown);

/** The same for text that pages show as it is, such as changes and output of programs. */
export const untrustedOutput = (text: string): UntrustedText =>
  cleaned(text, (shown) => ({ text: shown, removed: 0 }));

type Reader = (text: string, most: number) => UntrustedText;

function cleaned(text: string, read: Reader): UntrustedText {
  let isCut = text.length > maxRead;
  let before = isCut ? text.slice(0, maxRead) : text;
  let removed = 0;
  for (let round = 0; round < maxRounds; round += 1) {
    const visible = withoutHidden(lines(before).normalize('NFC'));
    const shown = read(visible.text, maxRead);
    const whole = withoutData(shown.text);
    const after = isCut || byteLength(whole) > maxBytes ? cut(whole) : whole;
    removed += visible.removed + shown.removed;
    if (after === before) return { text: after, removed };
    before = after;
    isCut = false;
  }
  // It was made so that each round uncovers more: without these marks nothing is left to uncover.
  return { text: plain(before), removed };
}

const lines = (text: string): string =>
  text.toWellFormed().replaceAll(/\r\n?|[\u0085\u2028\u2029]/g, '\n');

function withoutHidden(text: string): UntrustedText {
  let removed = 0;
  const kept = text.replaceAll(hiddenCharacters, (sign, index: number) => {
    if (isJoinerAt(text, index)) return sign;
    removed += 1;
    return '';
  });
  return { text: kept, removed };
}

/** Base64 and the like, also over several lines. */
const withoutData = (text: string): string =>
  text.replaceAll(dataRun, (run) =>
    run.length > 200
      ? `[data, ${Math.floor((run.replaceAll('\n', '').length * 3) / 4)} bytes]`
      : run,
  );

const dataRun = /[\w+/-]{40,}(?:\n[\w+/-]{40,})*={0,2}/g;

const cutMark = '\n[the rest is left out]';

function cut(text: string): string {
  const most = maxBytes - cutMark.length;
  let end = 0;
  for (let bytes = 0; end < text.length;) {
    const code = text.codePointAt(end) ?? 0;
    bytes += utf8Length(code);
    if (bytes > most) break;
    end += code > 0xffff ? 2 : 1;
  }
  const kept = text.slice(0, end).trimEnd();
  return kept.endsWith(cutMark) ? kept : kept + cutMark;
}

function byteLength(text: string): number {
  let bytes = 0;
  for (const sign of text) bytes += utf8Length(sign.codePointAt(0) ?? 0);
  return bytes;
}

function utf8Length(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

const replacements: Readonly<Record<string, string>> = {
  '<': '(',
  '>': ')',
  '[': '(',
  ']': ')',
  '&': ';',
  '`': "'",
  '~': ';',
};

function plain(text: string): string {
  const visible = lines(text).normalize('NFC').replaceAll(hiddenCharacters, '');
  return withoutData(visible.normalize('NFC')).replaceAll(
    /[<>[\]&`~]/g,
    (sign) => replacements[sign] ?? '',
  );
}
