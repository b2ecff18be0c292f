import type { Runs } from './syntax';
import type { Segment } from './word-diff';

/** A part of a line with uniform styling. */
export interface StyledSegment extends Segment {
  /** An index in `syntaxKinds`. */
  kind: number;
}

/** Splits a line wherever a syntax run or a changed segment starts or ends. */
export function styledSegments(
  text: string,
  runs: Runs = noRuns,
  segments: readonly Segment[] = [{ text, changed: false }],
): StyledSegment[] {
  const parts: StyledSegment[] = [];
  let run = 0;
  let left = runs[0] ?? Infinity;
  for (const { text: segment, changed } of segments) {
    for (let at = 0; at < segment.length;) {
      const length = Math.min(left, segment.length - at);
      parts.push({ text: segment.slice(at, at + length), changed, kind: runs[run + 1] ?? 0 });
      at += length;
      left -= length;
      if (left > 0) continue;
      run += 2;
      left = runs[run] ?? Infinity;
    }
  }
  return parts;
}

const noRuns: Runs = new Uint32Array();
