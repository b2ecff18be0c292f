/** The value below which a share of the samples lies (nearest rank). */
export function percentile(samples: number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

export const median = (samples: number[]) => percentile(samples, 0.5);

/** Runs something several times in sequence; returns the milliseconds of each run. */
export async function timed(times: number, once: (time: number) => unknown): Promise<number[]> {
  const samples: number[] = [];
  for (let time = 0; time < times; time++) {
    const begun = performance.now();
    await once(time);
    samples.push(performance.now() - begun);
  }
  return samples;
}

export const milliseconds = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
