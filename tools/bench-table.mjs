/**
 * A row is `{ what, value, unit, floor? }` and its limit: `most` or `least` for the value itself, or
 * `mostRatio` or `leastRatio` for the value over the floor that the same run measured.
 */
export function judge(row) {
  const ratio = row.floor ? row.value / row.floor : undefined;
  const good =
    (row.most === undefined || row.value <= row.most) &&
    (row.least === undefined || row.value >= row.least) &&
    (row.mostRatio === undefined || (ratio !== undefined && ratio <= row.mostRatio)) &&
    (row.leastRatio === undefined || (ratio !== undefined && ratio >= row.leastRatio));
  return { ...row, ...(ratio !== undefined && { ratio }), good };
}

export function benchTable(rows) {
  const head = ['#', 'what', 'figure', 'floor', 'ratio', 'allowed', 'verdict'];
  const lines = rows.map((row) => [
    String(row.target),
    row.what,
    row.failed ? '' : amount(row.value, row.unit),
    row.floor === undefined ? '' : amount(row.floor, row.unit),
    row.ratio === undefined ? '' : `${short(row.ratio)} ×`,
    allowed(row),
    verdict(row),
  ]);
  const widths = head.map((title, index) =>
    Math.max(title.length, ...lines.map((line) => line[index].length)),
  );
  const render = (cells) =>
    cells
      .map((text, index) => text.padEnd(widths[index]))
      .join('  ')
      .trimEnd();
  return [
    render(head),
    render(widths.map((width) => '─'.repeat(width))),
    ...lines.map(render),
  ].join('\n');
}

function verdict(row) {
  if (row.failed) return `not measured: ${row.failed.split('\n')[0]}`;
  return row.good ? 'good' : 'MISSED';
}

function allowed(row) {
  const parts = [];
  if (row.most !== undefined) parts.push(`≤ ${amount(row.most, row.unit)}`);
  if (row.least !== undefined) parts.push(`≥ ${amount(row.least, row.unit)}`);
  if (row.mostRatio !== undefined) parts.push(`≤ ${short(row.mostRatio)} ×`);
  if (row.leastRatio !== undefined) parts.push(`≥ ${short(row.leastRatio)} ×`);
  return parts.join(', ');
}

const amount = (value, unit) => `${short(value)}${unit ? ` ${unit}` : ''}`;

function short(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 100) return String(Math.round(value));
  return value.toFixed(size >= 10 ? 1 : 2);
}

/** The value below which a share of the samples lies, such as 0.95. */
export function percentile(samples, share) {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}
