import { filesBench, type FilesBench } from '../../files/testing/files-bench.js';
import { Reader, type NumberedEdit } from './reader.js';

/** Chains of random edits, one for each seed. */
export function describeEditChains(seeds: readonly number[]): void {
  describe('edits by line numbers', () => {
    let bench: FilesBench;
    let reader: Reader;
    beforeEach(() => {
      bench = filesBench();
      reader = new Reader(bench);
    });
    afterEach(() => bench.remove());

    it.each(seeds)('change what their author saw, or nothing: chain %i', async (seed) => {
      const random = bench.random(seed);
      const paths = ['a', 'b'];
      for (const path of paths) {
        reader.write(path, reader.fresh(12));
        await reader.read(path);
      }
      let done = 0;
      for (let reply = 0; reply < 15; reply++) {
        reader.prompt();
        const told = new Set<string>();
        const inserted = new Set<string>();
        const begun = new Map(paths.map((path) => [path, reader.lines(path)]));
        for (let call = random.below(4); call >= 0; call--) {
          const path = random.pick(paths);
          const before = reader.lines(path);
          if (random.below(12) === 0) {
            reader.insertByHand(path, 1 + random.below(before.length + 1), reader.fresh(1));
            told.add(path);
            continue;
          }
          const content = reader.fresh(1 + random.below(3));
          const { change, from, to } = someEdit(random, reader.screen(path));
          const edit = { change, from, to, ...(change !== 'DELETE' && { content }) };
          const expected = meant(before, reader.screen(path), {
            edit,
            inserted,
            begun: begun.get(path) ?? [],
          });
          const ok = await reader.edit(path, edit);
          if (ok) done++;
          if (ok && change === 'INSERT') for (const line of content) inserted.add(line);
          const after = { edit, lines: reader.lines(path) };
          expect((ok ? expected : [before]).map((lines) => ({ edit, lines }))).toContainEqual(
            after,
          );
        }
        for (const path of paths)
          if (told.has(path) || random.below(6) === 0) await reader.read(path);
      }
      expect(done).toBeGreaterThan(5);
    });
  });
}

function someEdit(
  random: ReturnType<FilesBench['random']>,
  screen: Map<number, string>,
): NumberedEdit {
  const numbers = [...screen.keys()];
  const change = random.pick(['INSERT', 'DELETE', 'REPLACE'] as const);
  const from = random.pick(numbers) + (change === 'INSERT' ? random.below(2) : 0);
  return { change, from, ...(change !== 'INSERT' && { to: from + random.below(3) }) };
}

/**
 * What the lines may be after an edit in the sense of the text that its author saw; nothing if that text is gone. An
 * insertion after the last line that was shown follows earlier ones of the same reply, or precedes them.
 */
function meant(
  lines: readonly string[],
  screen: Map<number, string>,
  { edit, inserted, begun }: { edit: NumberedEdit; inserted: ReadonlySet<string>; begun: string[] },
): string[][] {
  const { change, from, to = from, content = [] } = edit;
  if (change === 'INSERT') {
    const at = lines.indexOf(screen.get(from) ?? '');
    if (at >= 0) return [lines.toSpliced(at, 0, ...content)];
    const after = lines.indexOf(screen.get(from - 1) ?? '') + 1;
    if (after === 0) {
      // Earlier calls replaced the lines on both sides: the place is between what they left.
      const wasThere = [from, from - 1].some((line) => begun.includes(screen.get(line) ?? ''));
      const all = Array.from({ length: lines.length + 1 }, (_, index) => index);
      return wasThere ? all.map((index) => lines.toSpliced(index, 0, ...content)) : [];
    }
    const end = lines.findIndex((line, index) => index >= after && !inserted.has(line));
    const places = (end < 0 ? lines.length : end) - after + 1;
    return Array.from({ length: places }, (_, index) =>
      lines.toSpliced(after + index, 0, ...content),
    );
  }
  const seen = Array.from({ length: to - from + 1 }, (_, index) => screen.get(from + index));
  const at = lines.indexOf(seen[0] ?? '');
  if (at < 0 || seen.some((text, index) => lines[at + index] !== text)) return [];
  return [lines.toSpliced(at, seen.length, ...(change === 'DELETE' ? [] : content))];
}
