import type { Sample } from './sample.ts';

/** What a run under load left behind. */
export interface LoadOutcome {
  /** While the load lasted. */
  samples: Sample[];
  /** With the server idle: before the load, and after its end. */
  before: Sample;
  after: Sample;
  /** Sessions that finished, and viewers that saw one of them from its first event to its last. */
  sessions: number;
  views: number;
  /** What went wrong for a session or a viewer, in sentences. */
  failures: string[];
}

/** The first part of a run is not judged: caches fill, and the garbage collector finds its pace. */
const warmUpShare = 1 / 3;
/** Growth of the memory over the rest that is still flat, as a share of it: a collector's sawtooth has no slope. */
const flatShare = 0.1;
/** Descriptors and sockets that an idle server may have more than before: connections that are kept to the engine. */
const keptOpen = 8;

/** Sentences; none when all is well. */
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

/** Megabytes for each second: the median of the slopes between all pairs, which no single spike moves (Theil and Sen). */
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
