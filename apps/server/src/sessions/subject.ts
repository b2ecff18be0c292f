/** What a call is about, in a few words: what rules match against and people read. */
export function subjectOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  const fields = input as Record<string, unknown>;
  for (const name of ['command', 'path', 'from', 'url', 'host', 'query', 'pattern', 'terminal']) {
    const value = fields[name];
    if (typeof value === 'string' && value) return value;
  }
  return '';
}
