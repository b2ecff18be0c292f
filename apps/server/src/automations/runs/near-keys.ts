/** How far apart two ways of learning of one thing may date it: one has the time of the event, one that of the issue. */
const transportSeconds = 120;

/** Keys that mean the same as one that ends with a time, `label:12:belay:@1772366400`; any other one is alone. */
export function nearKeys(key: string, seconds = transportSeconds): string[] {
  const [, prefix, time] = /^(.*:@)(\d+)$/.exec(key) ?? [];
  if (prefix === undefined) return [key];
  const first = Number(time) - seconds;
  return Array.from({ length: 2 * seconds + 1 }, (_, at) => `${prefix}${first + at}`);
}
