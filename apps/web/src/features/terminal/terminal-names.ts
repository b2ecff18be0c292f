/** The terminals to show: `main` first, then by name, without closed ones that have no output. */
export function terminalNames(
  buffers: ReadonlyMap<string, unknown>,
  known: ReadonlyMap<string, { change: string }>,
): string[] {
  const names = new Set(buffers.keys());
  for (const [name, { change }] of known) if (change !== 'closed') names.add(name);
  return [...names].toSorted(
    (a, b) => Number(b === 'main') - Number(a === 'main') || (a < b ? -1 : 1),
  );
}

export function nextName(names: readonly string[]): string {
  let n = 1;
  while (names.includes(`you-${n}`)) n += 1;
  return names.length ? `you-${n}` : 'main';
}
