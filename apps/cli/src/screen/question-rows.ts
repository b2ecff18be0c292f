import { visibleText, type ApprovalRequest } from '@belay/protocol';
import { fitting, padded } from '../display-width.js';
import { headLines } from '../output.js';

/** Exactly this many columns, without control characters, so a row never overflows. */
export function cut(text: string, columns: number): string {
  const shown = visibleText(text).replaceAll(/[\n\t]/g, ' ');
  return padded(fitting(shown, columns).text, columns);
}

/** The question, as far as it fits; the lines that do not fit are counted. */
export function questionRows(
  asked: { request: ApprovalRequest | undefined; question: string | null },
  columns: number,
  most: number,
): string[] {
  const { request, question } = asked;
  const text = request?.subject ?? question;
  if (text === null) return [];
  const lines = wrapped(text, Math.max(2, columns - 2)).join('\n');
  const head = request ? `⚠ Allow ${request.operation}? (${request.risk})` : '? The agent asks';
  const keys = request
    ? '[y]es · [a]lways in this session · [n]o'
    : 'Write the answer, then press Enter.';
  return [
    styled(33, cut(head, columns)),
    ...headLines(lines, Math.max(1, most - 3), Infinity).map((line) => cut(`  ${line}`, columns)),
    styled(33, cut(keys, columns)),
  ];
}

/** A row in one style (SGR). */
export const styled = (style: number, row: string): string => `\u001b[${style}m${row}\u001b[0m`;

/** Wraps into at least two columns, enough for any character. */
function wrapped(text: string, columns: number): string[] {
  return headLines(text, Infinity, Infinity).flatMap((line) => {
    const parts: string[] = [];
    for (let rest = line; rest !== '' || parts.length === 0;) {
      const part = fitting(rest, columns).text;
      parts.push(part);
      rest = rest.slice(part.length);
    }
    return parts;
  });
}
