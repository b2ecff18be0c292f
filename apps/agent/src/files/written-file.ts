import { maxHunks, type LineHunk, type OperationOutput } from '@belay/protocol';
import { charsetOf, decodeText, encodeText, splitsCharacter } from './charset.js';
import { textLines } from './lines.js';
import { excerptOf } from './numbered-excerpt.js';
import type { TextForm } from './replace-text.js';
import { countLines } from './text.js';
import { inUtf8 } from './utf16.js';
import { versionOf } from './version-of.js';
import type { WorkspacePath } from './workspace-folder.js';

/** What the result of a change says about the file. */
export const writtenFile = (place: WorkspacePath, bytes: Buffer) => ({
  path: place.path,
  size: bytes.byteLength,
  lines: countLines(bytes),
  version: versionOf(bytes),
});

/** The same for an edit, with the changed lines as they are now. */
export function editedFile(
  place: WorkspacePath,
  bytes: Buffer,
  hunks: LineHunk[],
): OperationOutput<'files.edit'> {
  return { ...writtenFile(place, bytes), ...changedLinesOf(inUtf8(bytes), hunks) };
}

/** The places of a change in text that is not UTF-16, and the lines there as they are now. */
export function changedLinesOf(
  bytes: Buffer,
  hunks: LineHunk[],
): Pick<OperationOutput<'files.edit'>, 'hunks' | 'now' | 'shown'> {
  const { toText } = textFormOf(bytes, '');
  const { text, lines } = excerptOf(textLines(bytes), hunks, toText);
  return { ...(hunks.length <= maxHunks && { hunks }), now: text, shown: lines };
}

/** How text is written in a file with these bytes. */
export function textFormOf(bytes: Buffer, given: string): TextForm {
  const charset = charsetOf(bytes);
  return {
    inBytes: (text) => encodeText(text, charset, given).toString('latin1'),
    toText: (line) => decodeText(Buffer.from(line, 'latin1'), charset),
    splits: (text, place) => splitsCharacter(text, place, charset),
  };
}
