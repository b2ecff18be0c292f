import type { EventArgs } from '@belay/protocol';

interface Text {
  text: string;
  version: string | null;
}

/**
 * Applies an edit to the shown text of a file, and checks the result against the edit’s version.
 * Undefined if the edit is incomplete, if the result does not match, or without a secure origin,
 * where browsers cannot hash: the caller then has to read the file.
 */
export async function applyEdit(before: Text, edit: EventArgs<'code'>): Promise<Text | undefined> {
  const { version, truncated, line } = edit;
  if (version === undefined || truncated || line < 1) return undefined;
  if (before.version === version) return before;
  for (const text of possibleTexts(before.text, edit)) {
    if ((await versionOf(text)) === version) return { text, version };
  }
  return undefined;
}

/** The log has no line endings: only the version shows whether the file’s last line has one. */
function possibleTexts(
  before: string,
  { line, removed, content }: EventArgs<'code'>,
): readonly string[] {
  const end = before.includes('\r\n') ? '\r\n' : '\n';
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  lines.splice(line - 1, removed, ...content.map((one) => one + end));
  const last = lines.length - 1;
  // A line without an ending that is no longer the last one needs an ending.
  const ended = lines.map((one, index) => (one.endsWith('\n') || index === last ? one : one + end));
  const whole = ended.join('');
  return whole.endsWith(end) ? [whole, whole.slice(0, -end.length)] : [whole, whole + end];
}

async function versionOf(text: string): Promise<string | undefined> {
  // Despite its type, `subtle` is undefined without a secure origin.
  const { subtle } = crypto as Partial<Crypto>;
  if (!subtle) return undefined;
  const bytes = new TextEncoder().encode(text);
  const blob = new Blob([`blob ${bytes.length}\0`, bytes]);
  const hash = new Uint8Array(await subtle.digest('SHA-1', await blob.arrayBuffer()));
  return [...hash.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
