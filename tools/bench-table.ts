/** One figure of a measurement. `floor` is the figure of the bare technology in the same run. */
export interface Row {
  what: string;
  figure: number;
  unit: string;
  /** null: the figure is shown but not judged. */
  target: number | null;
  floor?: number;
  /** If true, the figure must be at least the target; otherwise at most. */
  atLeast?: boolean;
}

export interface JudgedRow extends Row {
  ratio?: number;
  good: boolean;
}

/** A target of docs/benchmarks.md with its rows, or with the reason why it has none. */
export interface Measurement {
  number: number;
  title: string;
  rows?: JudgedRow[];
  failed?: string;
}

export function judgeRow(row: Row): JudgedRow {
  const ratio = row.floor ? row.figure / row.floor : undefined;
  return { ...row, ...(ratio !== undefined && { ratio }), good: isMet(row) };
}

function isMet({ figure, target, atLeast }: Row): boolean {
  if (target === null) return true;
  return atLeast ? figure >= target : figure <= target;
}

/** One table of all measurements. */
export function benchTable(measurements: Measurement[]): string {
  const head = ['#', 'what', 'figure', 'floor', 'ratio', 'target', 'verdict'];
  const lines = measurements.flatMap(({ number, title, rows, failed }) => [
    [String(number), title, ...(failed ? ['', '', '', '', `not measured: ${failed}`] : [])],
    ...(rows ?? []).map(cells),
  ]);
  const isRow = (line: string[]) => line.length === head.length;
  const widths = head.map((name, index) =>
    Math.max(name.length, ...lines.filter(isRow).map((line) => line[index]?.length ?? 0)),
  );
  const render = (line: string[]) =>
    line
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width));
  return [head, rule, ...lines].map(render).join('\n');
}

function cells(row: JudgedRow): string[] {
  return [
    '',
    `  ${row.what}`,
    amount(row.figure, row.unit),
    row.floor === undefined ? '' : amount(row.floor, row.unit),
    row.ratio === undefined ? '' : `${short(row.ratio)} ×`,
    row.target === null ? '' : `${row.atLeast ? '≥' : '≤'} ${amount(row.target, row.unit)}`,
    row.target === null ? '' : row.good ? 'good' : 'MISSED',
  ];
}

const amount = (value: number, unit: string) => `${short(value)}${unit ? ` ${unit}` : ''}`;

function short(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 100) return String(Math.round(value));
  return value.toFixed(size >= 10 ? 1 : 2);
}
