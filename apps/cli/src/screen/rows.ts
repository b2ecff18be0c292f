import { visibleText, type ApprovalRequest } from '@belay/protocol';
import { firstLines } from '../output.js';

/** Exactly so many columns of signs alone: a row never runs over, and controls nothing. */
export function cut(text: string, columns: number): string {
  let used = 0;
  let kept = '';
  for (const sign of visibleText(text).replaceAll(/[\n\t]/g, ' ')) {
    const width = widthOf(sign);
    if (used + width > columns) break;
    kept += sign;
    used += width;
  }
  return kept + ' '.repeat(columns - used);
}

/** What is asked, whole as far as it fits; the lines that do not fit are counted. */
export function questionRows(
  asked: { request: ApprovalRequest | undefined; question: string | null },
  columns: number,
  most: number,
): string[] {
  const { request, question } = asked;
  const text = request?.subject ?? question;
  if (text === null) return [];
  const lines = wrapped(text, Math.max(1, columns - 2)).join('\n');
  const head = request ? `⚠ Allow ${request.operation}? (${request.risk})` : '? The agent asks you';
  const keys = request
    ? '[y]es · [a]lways in this session · [n]o'
    : 'Write the answer, then press Enter.';
  return [
    styled(33, cut(head, columns)),
    ...firstLines(lines, Math.max(1, most - 3), Infinity).map((line) => cut(`  ${line}`, columns)),
    styled(33, cut(keys, columns)),
  ];
}

/** A row in one style (SGR). */
export const styled = (style: number, row: string): string => `\u001b[${style}m${row}\u001b[0m`;

function wrapped(text: string, columns: number): string[] {
  return firstLines(text, Infinity, Infinity).flatMap((line) => {
    const parts: string[] = [];
    let part = '';
    let used = 0;
    for (const sign of line) {
      const width = widthOf(sign);
      if (used + width > columns) {
        parts.push(part);
        part = '';
        used = 0;
      }
      part += sign;
      used += width;
    }
    return [...parts, part];
  });
}

/** Columns of a sign: those of East Asia and pictures take two. */
const widthOf = (sign: string): number =>
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
    sign,
  )
    ? 2
    : 1;
