import { AppError, type FileConflict } from '@belay/protocol';
import {
  carriedLine,
  carriedPlace,
  growth,
  knownLines,
  knowsNumbers,
  shownWith,
  type KnownFile,
} from '../known-file.js';
import { requireLines, textLines, type LineEdit } from './lines.js';
import { numberedLines } from './numbered-excerpt.js';
import type { WorkspacePath } from './workspace-folder.js';
import { textFormOf } from './written-file.js';

/** The file of an edit, and what its caller has seen of it; undefined if it has seen nothing. */
export interface EditedFile {
  place: WorkspacePath;
  version: string;
  text: Buffer;
  seen: KnownFile | undefined;
}

type Range = { from: number; to: number };
/** Longer ranges are not shown in a refusal. */
const longestShown = 20;

/**
 * A model’s edit with the numbers that its lines have now. Its numbers mean the lines that were last shown with them:
 * they are carried through the changes of earlier calls in the same reply. Numbers that were last shown before another
 * change are refused, because the model may mean the old or the new ones. Throws `conflict`, with the lines as they are
 * now, or `invalid_input` if the file has no such lines.
 */
export function locateEdit(file: EditedFile, edit: LineEdit): LineEdit {
  const { seen } = file;
  const changes = seen?.changes ?? [];
  const shown = textLines(file.text).length - changes.reduce((sum, one) => sum + growth(one), 0);
  requireLines(shown, edit);
  const { change, from, to = from } = edit;
  if (!seen && shown > 0)
    throw refusal(
      file,
      edit,
      `You have not read ${file.place.given}, so its line numbers are not known to you.`,
    );
  const isKnown =
    change === 'INSERT'
      ? knowsPlace(seen, from, shown)
      : knowsNumbers(seen?.lines ?? [], { from, to });
  if (!isKnown) throw refusal(file, edit, unknownNumbers(file, edit));
  const located = change === 'INSERT' ? insertion(from, changes) : range({ from, to }, changes);
  if (located) return { ...edit, ...located };
  throw refusal(
    file,
    edit,
    `An earlier call of the same reply changed ${named({ from, to })} of ${file.place.given}, or a line between them.`,
  );
}

/** An insertion is before a line, or after the last line that was shown; an empty file has none to know. */
function knowsPlace(seen: KnownFile | undefined, from: number, length: number): boolean {
  const lines = seen?.lines ?? [];
  if (length === 0 || knowsNumbers(lines, single(from))) return true;
  // Another line that was shown with this number may be meant.
  const isOther = shownWith(lines, single(from)).length > 0;
  return from > 1 && !isOther && knowsNumbers(lines, single(from - 1));
}

function insertion(from: number, changes: KnownFile['changes']) {
  const line = carriedPlace(from, changes);
  return line === null ? null : { from: line };
}

/** Null unless all of the lines are still there, with nothing in between. */
function range({ from, to }: Range, changes: KnownFile['changes']): Range | null {
  const first = carriedLine(from, changes);
  for (let line = from; line <= to; line++)
    if (first === null || carriedLine(line, changes) !== first + line - from) return null;
  return first === null ? null : { from: first, to: first + to - from };
}

function unknownNumbers({ place, seen }: EditedFile, { from, to = from }: LineEdit): string {
  const lines = seen?.lines ?? [];
  const [moved] = shownWith(lines, { from, to });
  if (moved && moved.from !== from) {
    const now = named(moved).replace(/^lines? /, '');
    return `${place.given} changed above ${named({ from, to })} since you last saw ${from === to ? 'it with this number, and it is' : 'them with these numbers, and they are'} ${now} now.`;
  }
  return lines.length === 0
    ? `You have not seen the lines of ${place.given} as it is now.`
    : `You have read only lines ${knownLines(lines)} of ${place.given} as it is now.`;
}

function refusal(file: EditedFile, { from, to = from }: LineEdit, sentence: string): AppError {
  const { place, version, text: whole, seen } = file;
  const details: FileConflict = { path: place.path, version, shown: false };
  const begin = `${sentence} Nothing was changed.`;
  if (to - from >= longestShown)
    return new AppError('conflict', `${begin} Read ${named({ from, to })} first.`, details);
  const { text, lines: shown } = numberedLines(
    textLines(whole),
    placesNow(seen, { from, to }),
    textFormOf(whole, place.given).toText,
  );
  if (text === '') return new AppError('conflict', `${begin} Read it first.`, details);
  return new AppError(
    'conflict',
    `${begin} These are its lines now; call again with the numbers that fit:\n${text}`,
    { ...details, lines: shown },
  );
}

/** The lines that have these numbers now, and those that were shown with them. */
function placesNow(seen: KnownFile | undefined, { from, to }: Range): Range[] {
  if (!seen) return [{ from, to }];
  const carried = [from - 1, from, to, to + 1]
    .map((line) => carriedLine(line, seen.changes))
    .filter((line) => line !== null);
  return [{ from, to }, ...shownWith(seen.lines, { from, to }), ...carried.map(single)];
}

const single = (line: number): Range => ({ from: line, to: line });

const named = ({ from, to }: Range): string =>
  from === to ? `line ${from}` : `lines ${from}–${to}`;
