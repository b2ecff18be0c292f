/** Parses at most `limit` rows of CSV (RFC 4180, also with semicolons or tabs as separators). */
export function csvRows(text: string, limit: number): string[][] {
  const separator = separatorOf(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < text.length && rows.length < limit; at += 1) {
    const sign = text.charAt(at);
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text.charAt(at + 1) === '"') cell += text.charAt((at += 1));
      else quoted = false;
    } else if (sign === '"' && cell === '') quoted = true;
    else if (sign === separator) {
      row.push(cell);
      cell = '';
    } else if (sign === '\n') {
      rows.push([...row, cell.replace(/\r$/, '')]);
      row = [];
      cell = '';
    } else cell += sign;
  }
  if (rows.length < limit && (cell !== '' || row.length > 0)) rows.push([...row, cell]);
  return rows;
}

/** The separator that occurs most often in the first line. */
function separatorOf(text: string): string {
  const [line = ''] = text.split('\n', 1);
  const count = (sign: string) => line.split(sign).length;
  return ['\t', ';', ','].reduce((best, sign) => (count(sign) > count(best) ? sign : best));
}
