export interface FileRef {
  path: string;
  /** 1-based. */
  line: number;
}

/**
 * A path with a folder and an extension, or a file name with a line number. Does not match
 * `Math.round` or `and/or`.
 */
const filePattern =
  /(?:\/workspace\/|\.\/)?((?:\.{0,2}[\w@-][\w@.-]*\/)+[\w@.-]*\.[a-z]\w{0,9}|[\w@][\w@.-]*\.[a-z]\w{0,9}(?=:\d))(?::(\d+))?(?::\d+)?/giu;

/** The file and line, if the whole text is a reference; otherwise null. */
export function fileRefIn(text: string): FileRef | null {
  const [found] = fileRefsIn(text);
  return found && found.text === text ? found : null;
}

/**
 * Longer lines are rarely meant for reading, and the pattern’s time is quadratic in word length.
 */
const longestLine = 2_000;

/** All file references in the first `longestLine` characters of a line, with their positions. */
export function fileRefsIn(line: string): (FileRef & { text: string; at: number })[] {
  return [...line.slice(0, longestLine).matchAll(filePattern)]
    .filter(({ index }) => index === 0 || /[\s"'`([<=]/.test(line[index - 1] ?? ''))
    .map((found) => ({
      text: found[0],
      at: found.index,
      path: found[1] ?? '',
      line: Number(found[2] ?? 1),
    }));
}
