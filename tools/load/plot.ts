import type { Load } from './run-load.ts';
import type { Sample } from './sample.ts';
import { afterWarmUp, type LoadOutcome } from './verdict.ts';

const width = 760;
const panelHeight = 150;
const left = 64;
const right = 16;
const gap = 44;
const top = 56;
const ink = '#1f2937';
const faint = '#9ca3af';
const colors = ['#2563eb', '#d97706'];

interface Panel {
  title: string;
  lines: { name: string; of: (sample: Sample) => number }[];
}

const panels: Panel[] = [
  {
    title: 'Memory of the server (resident, MB)',
    lines: [{ name: 'memory', of: (s) => s.megabytes }],
  },
  {
    title: 'Open descriptors',
    lines: [
      { name: 'all', of: (s) => s.descriptors },
      { name: 'sockets', of: (s) => s.sockets },
    ],
  },
  { title: 'Containers', lines: [{ name: 'containers', of: (s) => s.containers }] },
];

/**
 * Draws the samples as SVG: one panel per quantity over the same time axis, which includes the idle
 * server before and after.
 */
export function plot({ samples, before, after, sessions }: LoadOutcome, load: Load): string {
  const all = [before, ...samples, after];
  const height = top + panels.length * (panelHeight + gap);
  const end = Math.max(...all.map(({ seconds }) => seconds));
  const judged = afterWarmUp(samples)[0]?.seconds ?? 0;
  const x = (seconds: number) => left + (seconds / end) * (width - left - right);
  const title = `${load.agents} agents and ${load.viewers} viewers for ${load.minutes} minutes, ${sessions} sessions; then all are deleted`;
  const drawn = panels.map((panel, index) => {
    const y = top + index * (panelHeight + gap);
    return drawPanel(panel, { all, x, y, judged: index === 0 ? judged : null });
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="${ink}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(left, 24, title, 'font-size="14"'),
    ...drawn,
    ...ticks(end / 60)
      .filter((minute) => minute * 60 <= end)
      .map((minute) =>
        text(x(minute * 60), height - gap + 18, `${minute} min`, 'text-anchor="middle"'),
      ),
    '</svg>\n',
  ].join('\n');
}

interface Frame {
  all: readonly Sample[];
  x: (seconds: number) => number;
  y: number;
  /** The second from which the memory is judged. */
  judged: number | null;
}

function drawPanel({ title, lines }: Panel, { all, x, y, judged }: Frame): string {
  const most = Math.max(1, ...lines.flatMap(({ of }) => all.map(of)));
  const steps = ticks(most);
  const limit = steps.at(-1) ?? most;
  const at = (value: number) => y + panelHeight - (value / limit) * panelHeight;
  const grid = steps.map(
    (value) =>
      `<path d="M${left} ${at(value).toFixed(1)}H${width - right}" stroke="${faint}" stroke-opacity=".4"/>${text(left - 8, at(value) + 4, String(value), 'text-anchor="end"')}`,
  );
  const paths = lines.map(({ of }, index) => {
    const points = all.map(
      (sample) => `${x(sample.seconds).toFixed(1)},${at(of(sample)).toFixed(1)}`,
    );
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${colors[index]}" stroke-width="1.5"/>`;
  });
  const names = lines.length > 1 ? lines : [];
  const legend = names.map(({ name }, index) =>
    text(
      width - right - 60 * (lines.length - index) + 60,
      y - 8,
      name,
      `text-anchor="end" fill="${colors[index]}"`,
    ),
  );
  const mark =
    judged === null
      ? []
      : [
          `<path d="M${x(judged).toFixed(1)} ${y}v${panelHeight}" stroke="${faint}" stroke-dasharray="4 4"/>`,
          text(x(judged) + 6, y + panelHeight - 8, 'judged from here', `fill="${faint}"`),
        ];
  return [text(left, y - 8, title), ...grid, ...mark, ...paths, ...legend].join('\n');
}

const text = (x: number, y: number, words: string, more = '') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${words}</text>`;

/** About five round values, from 0 to the first that is not below the maximum. */
function ticks(most: number): number[] {
  const rough = most / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((each) => each >= rough) ?? unit;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) =>
    Number((index * step).toPrecision(6)),
  );
}
