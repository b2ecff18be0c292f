/**
 * Values that differ between equal runs, and their replacements. Everything else is compared unchanged, so any other
 * difference between a request and its recording is found.
 */
const rules: readonly (readonly [pattern: RegExp, instead: string])[] = [
  // Dates and times, with or without a zone.
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z| ?[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b\d{4}-\d\d-\d\d\b/g, '<date>'],
  [/\b\d\d:\d\d:\d\d(\.\d+)?\b/g, '<time>'],
  [
    /\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun),? ((\d\d? )?(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)( +\d\d?)?)( \d{4})?/g,
    '<date>',
  ],
  // How long something took.
  [/\b\d+(\.\d+)? ?(ms|µs|ns|s|sec|secs|seconds?|milliseconds?|minutes?)\b/g, '<duration>'],
  [/\b(duration_ms|real|user|sys)([\s:=]+)[\d.m]+s?/g, '$1$2<duration>'],
  // Free ports of this machine.
  [/\b(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(:)\d{2,5}\b/g, '$1$2<port>'],
  [/\b([Pp]ort)([ :=]+)\d{4,5}\b/g, '$1$2<port>'],
  // Resources that the machine leaves to a sandbox.
  [/\b[\d.]+ (processors|MiB)\b/g, '<amount> $1'],
  // Names of temporary files and folders.
  [/(\/tmp|\/var\/tmp|\/run)\/[\w.@+-]+/g, '$1/<temporary>'],
  // Commits contain their time; process ids increase.
  [/\b[0-9a-f]{40}\b/g, '<commit>'],
  [/^(\[[\w./-]+( \(root-commit\))?) [0-9a-f]{7,12}\]/gm, '$1 <commit>]'],
  [/\b(pid|PID)([ :=]+)\d+\b/g, '$1$2<pid>'],
  [/^(\[\d+\]) \d+$/gm, '$1 <pid>'],
];

/** Measurements of the machine, by their names in results. */
const measured = new Set(['seconds', 'memoryUsedBytes', 'diskFreeBytes', 'from', 'to', 'size']);

/** A copy without volatile values, at any depth, with the keys of objects sorted. */
export function withoutVolatile(value: unknown, key?: string): unknown {
  if (typeof value === 'string') {
    return rules.reduce((text, [pattern, instead]) => text.replace(pattern, instead), value);
  }
  if (typeof value === 'number') return key !== undefined && measured.has(key) ? 0 : value;
  if (Array.isArray(value)) {
    // Pictures are blobs by the hash of their bytes, and no two screenshots have the same bytes.
    return key === 'images'
      ? value.map(() => '<picture>')
      : value.map((item) => withoutVolatile(item));
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, withoutVolatile(member, name)]));
}
