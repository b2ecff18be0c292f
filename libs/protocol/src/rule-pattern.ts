/** A rule’s pattern that matches only this text. */
export const exactPattern = (text: string): string => text.replaceAll(/[\\*]/g, '\\$&');

/** The only text that a pattern matches; null if the pattern has a star that matches any text. */
export function exactText(pattern: string): string | null {
  const parts = patternParts(pattern);
  return parts.every((part) => part !== anyText) ? parts.join('') : null;
}

/** Stands for any text in the parts of a pattern. */
export const anyText = Symbol('*');

/** The characters of a pattern, and `anyText` for each star: `\*` and `\\` are the characters themselves. */
export function patternParts(pattern: string): (string | typeof anyText)[] {
  const parts: (string | typeof anyText)[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] ?? '';
    const next = pattern[at + 1];
    if (char === '\\' && (next === '*' || next === '\\')) {
      parts.push(next);
      at += 1;
    } else parts.push(char === '*' ? anyText : char);
  }
  return parts;
}
