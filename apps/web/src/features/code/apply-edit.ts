import type { EventArgs } from '@belay/protocol';

interface Text {
  text: string;
  version: string | null;
}

/**
 * A file after an edit that has just landed: the shown text with the edit, checked by the edit’s version. Undefined when
 * the result is another text, and on a page without a secure origin, where browsers cannot hash: then the file is read.
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

/** The log has lines without their ends: whether the last one of a file has an end, only the version tells. */
function possibleTexts(
  before: string,
  { line, removed, content }: EventArgs<'code'>,
): readonly string[] {
  const end = before.includes('\r\n') ? '\r\n' : '\n';
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  lines.splice(line - 1, removed, ...content.map((one) => one + end));
  const last = lines.length - 1;
  // A line that was the last one without an end has an end now.
  const ended = lines.map((one, index) => (one.endsWith('\n') || index === last ? one : one + end));
  const whole = ended.join('');
  return whole.endsWith(end) ? [whole, whole.slice(0, -end.length)] : [whole, whole + end];
}

async function versionOf(text: string): Promise<string | undefined> {
  // A page without a secure origin has no `subtle`, whatever its type says.
  const { subtle } = crypto as Partial<Crypto>;
  if (!subtle) return undefined;
  const bytes = new TextEncoder().encode(text);
  const blob = new Blob([`blob ${bytes.length}\0`, bytes]);
  const hash = new Uint8Array(await subtle.digest('SHA-1', await blob.arrayBuffer()));
  return [...hash.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
