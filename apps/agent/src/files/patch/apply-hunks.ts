import { differingRun, type ChangedLines } from '../../differing-run.js';
import { closeLine, endAround, lineEnd, splitLines, toText, withoutEnd } from '../lines.js';
import { newLines, oldLines, type PatchHunk } from './parse-hunk.js';

export interface Applied {
  bytes: string;
  offsets: number[];
  /** The changed lines of each hunk, in order, numbered as of its application. */
  regions: ChangedLines[];
}

export interface Misfit {
  /** The number of the hunk, from 1. */
  hunk: number;
  reason: string;
}

type Same = (a: string, b: string) => boolean;
const exactly: Same = (a, b) => a === b;
const butForEnds: Same = (a, b) => withoutEnd(a) === withoutEnd(b);
const butForSpaces: Same = (a, b) => a.trim() === b.trim();

/**
 * Applies hunks in order. Each is searched at its stated line (shifted like the hunks before it), then outward,
 * nearest first. There is no fuzz: every context line must match. Only line ends may differ, if nothing matches with
 * them; the file’s own ends are then kept.
 */
export function applyHunks(bytes: string, hunks: readonly PatchHunk[]): Applied | Misfit {
  const lines = splitLines(bytes);
  const offsets: number[] = [];
  const regions: ChangedLines[] = [];
  let drift = 0;
  let grown = 0;
  let from = 0;
  for (const [index, hunk] of hunks.entries()) {
    const old = oldLines(hunk);
    const place = hunk.start === null ? placeOf(lines, hunk, from) : hunk.start + grown;
    if (typeof place === 'string') return { hunk: index + 1, reason: place };
    const stated = hunk.start === null ? place - drift : place;
    const expected = stated + drift;
    const found = search(lines, old, { expected, from, same: exactly });
    const at = found ?? search(lines, old, { expected, from, same: butForEnds });
    if (at === null) return { hunk: index + 1, reason: explain(lines, hunk, expected, from) };
    const appends = hunk.start === null && old.length === 0;
    const now = found === null || appends ? inEndsOf(lines, hunk, at) : newLines(hunk);
    const region = differingRun(lines.slice(at, at + old.length), now);
    if (region) regions.push({ ...region, line: region.line + at });
    if (appends) closeLine(lines, at - 1, endAround(lines, at - 1));
    splice(lines, at, old.length, now);
    offsets.push(at - stated);
    drift = at - stated;
    grown += now.length - old.length;
    from = at + now.length;
  }
  return { bytes: lines.join(''), offsets, regions };
}

interface Search {
  expected: number;
  from: number;
  same: Same;
}

function search(lines: readonly string[], old: readonly string[], search: Search): number | null {
  const last = lines.length - old.length;
  const fits = (at: number) =>
    at >= search.from &&
    at <= last &&
    old.every((line, index) => search.same(line, lines[at + index] ?? ''));
  const reach = Math.max(search.expected - search.from, last - search.expected, 0);
  if (old.length === 0) return fits(search.expected) ? search.expected : null;
  for (let distance = 0; distance <= reach; distance++) {
    if (fits(search.expected - distance)) return search.expected - distance;
    if (fits(search.expected + distance)) return search.expected + distance;
  }
  return null;
}

/**
 * The new lines for a place that matches except for line ends: context stays unchanged, and added lines get the ends
 * of their neighbors.
 */
function inEndsOf(lines: readonly string[], hunk: PatchHunk, at: number): string[] {
  const end = endAround(lines, at);
  let position = at;
  const now: string[] = [];
  for (const { kind, text } of hunk.lines) {
    if (kind === '+') now.push(withoutEnd(text) + end);
    if (kind === ' ') now.push(lines[position] ?? '');
    if (kind !== '+') position++;
  }
  const openEnd = position === lines.length && lineEnd(lines.at(-1) ?? '') === '';
  const closed = now.map((line, index) =>
    lineEnd(line) === '' && index < now.length - 1 ? line + end : line,
  );
  const last = closed.pop();
  return last === undefined ? [] : [...closed, openEnd ? withoutEnd(last) : last];
}

/** Splices in pieces, because a call with hundreds of thousands of arguments would overflow the stack. */
function splice(lines: string[], at: number, count: number, now: readonly string[]): void {
  const tail = lines.splice(at).slice(count);
  for (const line of now) lines.push(line);
  for (const line of tail) lines.push(line);
}

/** The index at which a hunk without line numbers applies, or the reason why it cannot be determined. */
function placeOf(lines: readonly string[], hunk: PatchHunk, from: number): number | string {
  const old = oldLines(hunk);
  let start = from;
  for (const anchor of hunk.anchors) {
    const at = lines.findIndex((line, index) => index >= start && line.trim() === anchor.trim());
    if (at < 0) return `no line below line ${start} is ${quote(anchor)}, the line given after @@`;
    start = at + 1;
  }
  if (old.length === 0) return hunk.anchors.length > 0 ? start : lines.length;
  const last = lines.length - old.length;
  if (
    hunk.atEnd &&
    last >= start &&
    placesOf(lines, old, { from: last, same: butForEnds }).length > 0
  )
    return last;
  const exact = placesOf(lines, old, { from: start, same: exactly });
  const all = exact.length > 0 ? exact : placesOf(lines, old, { from: start, same: butForEnds });
  const [first = start, ...others] = all;
  if (others.length === 0 || hunk.anchors.length > 0) return first;
  const shown = all.slice(0, mostNamed).map((at) => at + 1);
  return `its lines occur at lines ${shown.join(', ')}${all.length > shown.length ? ', …' : ''}: give more lines around them, or a line above them after @@`;
}

const mostNamed = 10;

/** Indexes at which all lines match, up to one more than are reported. */
function placesOf(
  lines: readonly string[],
  old: readonly string[],
  { from, same }: Pick<Search, 'from' | 'same'>,
): number[] {
  const places: number[] = [];
  for (let at = from; at <= lines.length - old.length && places.length <= mostNamed; at++) {
    if (old.every((line, index) => same(line, lines[at + index] ?? ''))) places.push(at);
  }
  return places;
}

function explain(
  lines: readonly string[],
  hunk: PatchHunk,
  expected: number,
  from: number,
): string {
  const old = oldLines(hunk);
  if (old.length === 0) {
    return `it adds lines after line ${expected}, but the file has ${lines.length}`;
  }
  const now = newLines(hunk);
  const adds = hunk.lines.some((line) => line.kind === '+');
  if (adds && search(lines, now, { expected, from: 0, same: butForEnds }) !== null) {
    return 'the file has the new lines already: it seems to be applied';
  }
  if (from > 0 && search(lines, old, { expected, from: 0, same: butForEnds }) !== null) {
    return 'its lines are above those of the previous hunk: put the hunks in order';
  }
  const near = nearest(lines, old, expected);
  if (near === null) return `nothing in the file (${lines.length} lines) looks like its lines`;
  const index = old.findIndex((line, offset) => !butForEnds(line, lines[near + offset] ?? ''));
  const found = lines[near + index];
  const is = found === undefined ? 'the file ends' : `the file has ${quote(found)}`;
  return `nearest is line ${near + 1}; at line ${near + index + 1} the patch expects ${quote(old[index] ?? '')} but ${is}`;
}

const quote = (line: string): string => JSON.stringify(toText(withoutEnd(line)).slice(0, 160));

/**
 * The place where most lines are equal except for spaces, the nearest of several; at least one of these lines must not
 * be blank.
 */
function nearest(
  lines: readonly string[],
  old: readonly string[],
  expected: number,
): number | null {
  const probe = old.slice(0, 60);
  let best: { at: number; score: number } | null = null;
  for (let at = 0; at < Math.min(lines.length, 50_000); at++) {
    let score = 0;
    for (const [index, line] of probe.entries()) {
      if (line.trim() !== '' && butForSpaces(line, lines[at + index] ?? '')) score++;
    }
    if (score === 0) continue;
    const closer =
      best !== null &&
      score === best.score &&
      Math.abs(at - expected) < Math.abs(best.at - expected);
    if (best === null || score > best.score || closer) best = { at, score };
  }
  return best?.at ?? null;
}
