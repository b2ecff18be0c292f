/**
 * The verdict on a row `{ what, figure, unit, target, floor?, atLeast? }`: a figure must not be above its
 * target, or not below it with `atLeast`. A target of null is shown and not judged.
 */
export function judge(row) {
  const ratio = row.floor ? row.figure / row.floor : undefined;
  const met = row.atLeast ? row.figure >= row.target : row.figure <= row.target;
  return { ...row, ...(ratio !== undefined && { ratio }), good: row.target === null || met };
}

/** One table of all measurements, each a target's number, its title and its rows. */
export function benchTable(measurements) {
  const head = ['#', 'what', 'figure', 'floor', 'ratio', 'target', 'verdict'];
  const lines = measurements.flatMap(({ number, title, rows, failed }) => [
    [String(number), title, ...(failed ? ['', '', '', '', `not measured: ${failed}`] : [])],
    ...(rows ?? []).map(cells),
  ]);
  const isRow = (line) => line.length === head.length;
  const widths = head.map((name, index) =>
    Math.max(name.length, ...lines.filter(isRow).map((line) => line[index].length)),
  );
  const render = (line) =>
    line
      .map((text, index) => text.padEnd(widths[index]))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width));
  return [head, rule, ...lines].map(render).join('\n');
}

function cells(row) {
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

const amount = (value, unit) => `${short(value)}${unit ? ` ${unit}` : ''}`;

function short(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 100) return String(Math.round(value));
  return value.toFixed(size >= 10 ? 1 : 2);
}
