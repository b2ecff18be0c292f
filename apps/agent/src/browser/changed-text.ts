import { differingRun } from '../differing-run.js';

/** A shorter text is shown as a whole. */
const shortText = 2_000;
/** Unchanged lines that are shown on each side. */
const around = 2;

export interface ShownText {
  text: string;
  truncated: boolean;
  /** The page’s text from its beginning as far as its reader knows it now. */
  known: string;
}

/**
 * A page’s text for a reader who knows its earlier text, or the beginning of it: the lines from the first change to the
 * last, up to `most` characters, and the number of those above and below. Lines that were never shown count as changed.
 */
export function changedText(before: string | null, now: string, most: number): ShownText {
  if (before === null || now.length <= shortText) return beginning(now, most);
  if (before === now) {
    const text = '[The text is the same as before; browser.read shows it.]';
    return { text, truncated: false, known: now };
  }
  const lines = now.split('\n');
  const run = differingRun(before.split('\n'), lines);
  const head = run ? run.line - 1 : lines.length;
  const tail = lines.length - head - (run?.added.length ?? 0);
  const [above, below] = [Math.max(0, head - around), Math.max(0, tail - around)];
  const begin = above > 0 ? `[${above} lines as before]\n` : '';
  const end = below > 0 ? `\n[${below} lines as before; browser.read shows all]` : '';
  const start = lines.slice(0, above).reduce((sum, line) => sum + line.length + 1, 0);
  const changed = lines.slice(above, lines.length - below).join('\n');
  const shown = changed.slice(0, most - begin.length);
  if (shown.length < changed.length)
    return { text: begin + shown, truncated: true, known: now.slice(0, start + shown.length) };
  return { text: begin + shown + end, truncated: false, known: now };
}

/** The known text of a page after a part of it was read. */
export function knownAfterRead(
  before: string | null,
  now: string,
  { from, to }: { from: number; to: number },
): string | null {
  const isUnchanged = before !== null && now.startsWith(before);
  if (isUnchanged && before.length >= to) return before;
  const continues = from === 0 || before?.slice(0, from) === now.slice(0, from);
  return continues ? now.slice(0, to) : before;
}

const beginning = (now: string, most: number): ShownText => ({
  text: now.slice(0, most),
  truncated: now.length > most,
  known: now.slice(0, most),
});
