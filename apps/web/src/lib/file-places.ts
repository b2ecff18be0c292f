export interface FilePlace {
  path: string;
  /** From 1. */
  line: number;
}

/** A path with a folder and an ending, or a file name with a line: `Math.round` and `and/or` are none. */
const place =
  /(?:\/workspace\/|\.\/)?((?:\.{0,2}[\w@-][\w@.-]*\/)+[\w@.-]*\.[a-z]\w{0,9}|[\w@][\w@.-]*\.[a-z]\w{0,9}(?=:\d))(?::(\d+))?(?::\d+)?/giu;

/** The place that a text names, when it is nothing else. */
export function placeIn(text: string): FilePlace | null {
  const [found] = placesIn(text);
  return found && found.text === text ? found : null;
}

/** Every place that a line of output names, and where in it. */
export function placesIn(line: string): (FilePlace & { text: string; at: number })[] {
  return [...line.matchAll(place)]
    .filter(({ index }) => index === 0 || /[\s"'`([<=]/.test(line[index - 1] ?? ''))
    .map((found) => ({
      text: found[0],
      at: found.index,
      path: found[1] ?? '',
      line: Number(found[2] ?? 1),
    }));
}
