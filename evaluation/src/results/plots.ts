import { percentText } from '@belay/protocol';

// Plots are inline SVG, so a report needs neither scripts nor requests.

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** A proportion with its interval, on a line from 0 to 100%. */
export function intervalPlot(share: number, [low, high]: [number, number]): string {
  const x = (value: number) => 20 + 460 * value;
  return svg(
    500,
    64,
    `<line x1="20" y1="30" x2="480" y2="30" class="axis"/>
<line x1="${x(low)}" y1="30" x2="${x(high)}" y2="30" class="interval"/>
<circle cx="${x(share)}" cy="30" r="6" class="mark"><title>${percentText(share)}</title></circle>
${[0, 0.25, 0.5, 0.75, 1].map((at) => `<text x="${x(at)}" y="54" text-anchor="middle">${100 * at}%</text>`).join('')}`,
  );
}

/** Bars with a label below and the value above each. */
export function barPlot(bars: { label: string; value: number; text: string }[]): string {
  const top = Math.max(...bars.map(({ value }) => value), 1e-9);
  const width = Math.max(300, bars.length * 56 + 20);
  const body = bars.map(({ label, value, text }, index) => {
    const height = (110 * value) / top;
    const left = 16 + index * 56;
    return `<rect x="${left}" y="${140 - height}" width="40" height="${height}" class="bar"/>
<text x="${left + 20}" y="${132 - height}" text-anchor="middle">${escapeHtml(text)}</text>
<text x="${left + 20}" y="156" text-anchor="middle">${escapeHtml(label)}</text>`;
  });
  return svg(width, 164, body.join(''));
}

/** A dot for each trial: its cost (or duration) against its reward. */
export function scatterPlot(
  points: { x: number; y: number; title: string }[],
  xLabel: string,
): string {
  const most = Math.max(...points.map(({ x }) => x), 1e-9);
  const dots = points.map(
    ({ x, y, title }) =>
      `<circle cx="${40 + (430 * x) / most}" cy="${120 - 100 * y}" r="4" class="dot"><title>${escapeHtml(title)}</title></circle>`,
  );
  return svg(
    500,
    156,
    `<line x1="40" y1="120" x2="480" y2="120" class="axis"/><line x1="40" y1="10" x2="40" y2="120" class="axis"/>
<text x="34" y="24" text-anchor="end">1</text><text x="34" y="124" text-anchor="end">0</text>
<text x="480" y="146" text-anchor="end">${escapeHtml(xLabel)}, up to ${Number(most.toPrecision(3))}</text>${dots.join('')}`,
  );
}

const svg = (width: number, height: number, body: string) =>
  `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">${body}</svg>`;
