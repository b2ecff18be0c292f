export interface FileRef {
  path: string;
  /** From 1. */
  line: number;
}

/** A path with a folder and an ending, or a file name with a line: `Math.round` and `and/or` are none. */
const filePattern =
  /(?:\/workspace\/|\.\/)?((?:\.{0,2}[\w@-][\w@.-]*\/)+[\w@.-]*\.[a-z]\w{0,9}|[\w@][\w@.-]*\.[a-z]\w{0,9}(?=:\d))(?::(\d+))?(?::\d+)?/giu;

/** The file and line that a text names, when it is nothing else. */
export function fileRefIn(text: string): FileRef | null {
  const [found] = fileRefsIn(text);
  return found && found.text === text ? found : null;
}

/** Longer lines are not output for people, and the pattern takes time by the square of a word. */
const longestLine = 2_000;

/** Every file that the beginning of a line of output names, and where in it. */
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
