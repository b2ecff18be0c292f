import { fitting, padded, truncated } from './display-width.js';
import { outputTo, singleLine } from './output.js';

export interface List<T> {
  /** The cells of one line; the first names the item for other commands and is never shortened. */
  row(item: T): string[];
  /** Printed when there are no items: a sentence that says what to do. */
  empty: string;
  /** Columns of numbers, which are aligned at their end. */
  numbers?: readonly number[];
}

/** Prints a list in aligned columns that fit the terminal, or the items as JSON. */
export function printList<T>(
  items: readonly T[],
  { json }: { json?: boolean },
  { row, empty, numbers }: List<T>,
): void {
  const output = outputTo(process.stdout);
  if (json) return output.json(items);
  if (items.length === 0) return output.line(empty);
  for (const line of tableLines(items.map(row), output.width, numbers)) output.line(line);
}

const gap = '  ';
const minColumns = 8;

/** Rows as lines of at most `width` columns, if the first column leaves enough space. */
export function tableLines(
  rows: readonly string[][],
  width: number,
  numbers: readonly number[] = [],
): string[] {
  const cells = rows.map((row) => row.map((cell) => singleLine(cell, Infinity)));
  const widths = columnWidths(cells, width);
  return cells.map((row) =>
    row
      .map((cell, index) => {
        const columns = widths[index] ?? 0;
        return padded(truncated(cell, columns), columns, numbers.includes(index));
      })
      .join(gap)
      .trimEnd(),
  );
}

/** The width of each column; while a line is too long, the widest column except the first is reduced. */
function columnWidths(cells: readonly string[][], width: number): number[] {
  const widths: number[] = [];
  for (const row of cells)
    for (const [index, cell] of row.entries()) {
      const { columns } = fitting(cell, index === 0 ? Infinity : width);
      widths[index] = Math.max(widths[index] ?? 0, columns);
    }
  let excess = widths.reduce((sum, columns) => sum + columns + gap.length, -gap.length - width);
  for (; excess > 0; excess -= 1) {
    const widest = Math.max(...widths.slice(1));
    if (widest <= minColumns) break;
    widths[widths.lastIndexOf(widest)] = widest - 1;
  }
  return widths;
}
