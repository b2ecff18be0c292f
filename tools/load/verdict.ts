import type { Sample } from './sample.ts';

/** The outcome of a run under load. */
export interface LoadOutcome {
  /** During the load. */
  samples: Sample[];
  /** With the server idle: before the load, and after its end. */
  before: Sample;
  after: Sample;
  /** Finished sessions, and views of a session from its first event to its last. */
  sessions: number;
  views: number;
  /** What went wrong for a session or a viewer, in sentences. */
  failures: string[];
}

/** The first part of a run is not judged: caches fill, and the garbage collector adapts. */
const warmUpShare = 1 / 3;
/**
 * Growth of memory that still counts as flat, as a share of it; a collector’s sawtooth has no
 * slope.
 */
const flatShare = 0.1;
/**
 * How many more descriptors or sockets an idle server may have than before, for kept connections to
 * the engine.
 */
const keptOpen = 8;

/** One sentence per fault. */
export function loadFaults(outcome: LoadOutcome): string[] {
  const { before, after, sessions, failures } = outcome;
  const left = (what: 'descriptors' | 'sockets') =>
    after[what] > before[what] + keptOpen
      ? [
          `The server had ${before[what]} ${what} open before the load and has ${after[what]} after it: something does not close them.`,
        ]
      : [];
  return [
    ...failures.slice(0, 5),
    ...(sessions === 0 ? ['No session finished: nothing was measured.'] : []),
    ...growth(outcome.samples),
    ...left('descriptors'),
    ...left('sockets'),
    ...(after.containers > 0
      ? [`${after.containers} containers are left after all sessions were deleted.`]
      : []),
  ];
}

/** The samples whose memory is judged. */
export function afterWarmUp(samples: readonly Sample[]): Sample[] {
  const end = samples.at(-1)?.seconds ?? 0;
  return samples.filter(({ seconds }) => seconds >= end * warmUpShare);
}

/**
 * Megabytes per second: the median of the slopes between all pairs of samples, which single spikes
 * do not affect (Theil–Sen).
 */
export function slope(samples: readonly Sample[]): number {
  const slopes = samples.flatMap((a, index) =>
    samples.slice(index + 1).map((b) => (b.megabytes - a.megabytes) / (b.seconds - a.seconds)),
  );
  return median(slopes);
}

function growth(samples: readonly Sample[]): string[] {
  const judged = afterWarmUp(samples);
  const [first, last] = [judged.at(0), judged.at(-1)];
  if (!first || !last || judged.length < 5) return ['Too few samples: let the load last longer.'];
  const seconds = last.seconds - first.seconds;
  const grown = slope(judged) * seconds;
  const limit = flatShare * median(judged.map(({ megabytes }) => megabytes));
  if (grown <= limit) return [];
  return [
    `The server's memory grew by ${grown.toFixed(0)} MB in ${(seconds / 60).toFixed(1)} minutes, and ${limit.toFixed(0)} MB would be flat: something keeps what has ended.`,
  ];
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
