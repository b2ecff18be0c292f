import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorFrom, newEvent, type FileChange, type NewEvent } from '@belay/protocol';
import { filesBench, type FilesBench } from '../files/testing/files-bench.js';
import { versionOf } from '../files/version-of.js';
import { foldConversation } from './conversation-log.js';
import { KnownFiles } from './known-files.js';

type Edit = {
  change: 'INSERT' | 'DELETE' | 'REPLACE';
  from: number;
  to?: number | undefined;
  content?: string[];
};

/** A model that edits by the numbers that it saw last, and a plain list of lines to compare with. */
class Reader {
  readonly known = new KnownFiles();
  /** The text that was last shown with each number, by path. */
  readonly screens = new Map<string, Map<number, string>>();
  readonly #bench: FilesBench;
  #shown: (() => void)[] = [];
  #texts = 0;

  constructor(bench: FilesBench) {
    this.#bench = bench;
  }

  fresh = (count: number): string[] => Array.from({ length: count }, () => `text ${++this.#texts}`);
  lines = (path: string): string[] =>
    readFileSync(join(this.#bench.root, path), 'utf8').split('\n').slice(0, -1);
  write = (path: string, lines: readonly string[]): void =>
    writeFileSync(join(this.#bench.root, path), lines.map((line) => `${line}\n`).join(''));
  screen(path: string): Map<number, string> {
    const screen = this.screens.get(path) ?? new Map<number, string>();
    this.screens.set(path, screen);
    return screen;
  }

  /** The next prompt shows all results so far. */
  prompt(): void {
    for (const show of this.#shown.splice(0)) show();
    this.known.show();
  }

  async read(path: string, from = 1): Promise<void> {
    const output = await this.#call('files.read', { path, from });
    const lines = this.lines(path);
    expect(output.ok).toBe(true);
    this.#show(
      path,
      lines.slice(from - 1).map((line, index) => `${from + index}\t${line}`),
    );
  }

  async edit(path: string, edit: Edit): Promise<boolean> {
    const { ok, text } = await this.#call('files.edit', { path, ...edit });
    this.#show(path, text.split('\n'));
    return ok;
  }

  async replace(path: string, find: string, replace: string): Promise<boolean> {
    const { ok, text } = await this.#call('files.replace-text', { path, find, replace });
    this.#show(path, text.split('\n'));
    return ok;
  }

  async search(pattern: string): Promise<void> {
    await this.#call('files.search', { pattern });
  }

  /** A user’s insertion, which the next prompt tells. */
  insertByHand(path: string, at: number, content: string[]): void {
    const before = this.lines(path);
    const bytes = readFileSync(join(this.#bench.root, path));
    this.write(path, before.toSpliced(at - 1, 0, ...content));
    const change: FileChange = {
      path,
      before: versionOf(bytes),
      version: versionOf(readFileSync(join(this.#bench.root, path))),
      hunks: [{ at, removed: 0, added: content.length }],
    };
    this.known.addChanges([change]);
    this.#show(
      path,
      content.map((line, index) => `${at + index}\t${line}`),
    );
  }

  #show(path: string, lines: readonly string[]): void {
    this.#shown.push(() => {
      for (const line of lines) {
        const [, number, text] = /^(\d+)\t(.*)$/.exec(line) ?? [];
        if (number === undefined || text === undefined) continue;
        const screen = this.screen(path);
        // A line that was shown again is known by its new number.
        for (const [known, same] of screen) if (same === text) screen.delete(known);
        screen.set(Number(number), text);
      }
    });
  }

  async #call(
    name: 'files.read' | 'files.edit' | 'files.replace-text' | 'files.search',
    input: object,
  ) {
    this.#bench.known = new Map(this.known.files);
    const result = await this.#bench.call(name, input).then(
      (output) => ({ ok: true, output }),
      (error: unknown) => ({ ok: false, output: errorFrom(error).toJSON() }),
    );
    this.known.addResult({ operation: name, images: [], seconds: 0, ...result });
    const { output } = result;
    const text = 'now' in output ? output.now : 'message' in output ? output.message : '';
    return { ok: result.ok, text };
  }
}

/**
 * What the lines may be after an edit in the sense of the text that its author saw; nothing if that text is gone. An
 * insertion after the last line that was shown follows earlier ones of the same reply, or precedes them.
 */
function meant(
  lines: readonly string[],
  screen: Map<number, string>,
  { edit, inserted, begun }: { edit: Edit; inserted: ReadonlySet<string>; begun: string[] },
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

describe('edits by line numbers', () => {
  let bench: FilesBench;
  let reader: Reader;
  beforeEach(() => {
    bench = filesBench();
    reader = new Reader(bench);
  });
  afterEach(() => bench.remove());
  const put = (path: string, count: number) =>
    reader.write(
      path,
      Array.from({ length: count }, (_, index) => `def f${index + 1}`),
    );

  it('mean the lines that were read, in all calls of a reply and in the next ones', async () => {
    put('z.py', 20);
    await reader.read('z.py');
    reader.prompt();
    expect(
      await reader.edit('z.py', { change: 'REPLACE', from: 2, content: ['a', 'b', 'c'] }),
    ).toBe(true);
    expect(await reader.edit('z.py', { change: 'REPLACE', from: 15, content: ['x'] })).toBe(true);
    expect(await reader.edit('z.py', { change: 'DELETE', from: 18 })).toBe(true);
    const now = [
      'def f1',
      'a',
      'b',
      'c',
      'def f14',
      'x',
      'def f16',
      'def f17',
      'def f19',
      'def f20',
    ];
    expect(reader.lines('z.py').filter((line) => !/^def f([3-9]|1[0-3])$/.test(line))).toEqual(now);
    reader.prompt();
    // The results showed line 20 with its new text; line 12 has moved since it was shown.
    expect(reader.screen('z.py').get(20)).toBe('def f19');
    const before = reader.lines('z.py');
    expect(await reader.edit('z.py', { change: 'DELETE', from: 12 })).toBe(false);
    expect(reader.lines('z.py')).toEqual(before);
    // The refusal shows where it is now.
    reader.prompt();
    expect(reader.screen('z.py').get(14)).toBe('def f12');
    expect(await reader.edit('z.py', { change: 'DELETE', from: 14 })).toBe(true);
    expect(reader.lines('z.py')).toEqual(before.filter((line) => line !== 'def f12'));
  });

  it('are shown with the changed lines and two lines around them', async () => {
    put('z.py', 9);
    bench.known = undefined;
    const { now, shown } = await bench.call('files.edit', {
      path: 'z.py',
      change: 'REPLACE',
      from: 4,
      to: 5,
      content: ['x', 'y', 'z'],
    });
    expect(now).toBe('2\tdef f2\n3\tdef f3\n4\tx\n5\ty\n6\tz\n7\tdef f6\n8\tdef f7');
    expect(shown).toEqual([{ from: 2, to: 8 }]);
  });

  it('count from the prompt on that shows the lines, not from the read in the same reply', async () => {
    put('z.py', 9);
    reader.prompt();
    await reader.read('z.py');
    expect(await reader.edit('z.py', { change: 'DELETE', from: 4 })).toBe(false);
    reader.prompt();
    expect(await reader.edit('z.py', { change: 'DELETE', from: 4 })).toBe(true);
  });

  it('are all refused in a reply that did not know of a change by hand', async () => {
    put('z.py', 9);
    await reader.read('z.py');
    reader.prompt();
    reader.write('z.py', ['by hand', ...reader.lines('z.py')]);
    const before = reader.lines('z.py');
    for (const from of [4, 6])
      expect(await reader.edit('z.py', { change: 'DELETE', from })).toBe(false);
    expect(reader.lines('z.py')).toEqual(before);
  });

  it('count as shown by a search, as far as it shows whole lines', async () => {
    put('z.py', 9);
    reader.write('long.py', ['x'.repeat(600)]);
    await reader.search('f4|x');
    reader.prompt();
    expect(await reader.edit('z.py', { change: 'DELETE', from: 5 })).toBe(false);
    expect(await reader.edit('z.py', { change: 'DELETE', from: 4 })).toBe(true);
    expect(reader.lines('z.py')).not.toContain('def f4');
    expect(await reader.edit('long.py', { change: 'DELETE', from: 1 })).toBe(false);
  });

  it('follow replaced text in the same reply', async () => {
    put('z.py', 9);
    await reader.read('z.py');
    reader.prompt();
    expect(await reader.replace('z.py', 'def f2\n', 'def f2\n  pass\n  pass\n')).toBe(true);
    expect(await reader.edit('z.py', { change: 'DELETE', from: 7 })).toBe(true);
    expect(reader.lines('z.py')).not.toContain('def f7');
    expect(reader.lines('z.py')).toHaveLength(10);
  });

  it.each(Array.from({ length: 30 }, (_, seed) => seed))(
    'change what their author saw, or nothing: chain %i',
    async (seed) => {
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
    },
  );
});

function someEdit(random: ReturnType<FilesBench['random']>, screen: Map<number, string>): Edit {
  const numbers = [...screen.keys()];
  const change = random.pick(['INSERT', 'DELETE', 'REPLACE'] as const);
  const from = random.pick(numbers) + (change === 'INSERT' ? random.below(2) : 0);
  return { change, from, ...(change !== 'INSERT' && { to: from + random.below(3) }) };
}

describe('what a conversation knows of files', () => {
  const version = '0123456789abcdef';
  const log: NewEvent[] = [];
  const say = (id: string) =>
    newEvent('agent', 'say', {
      args: { text: '', calls: [{ id, operation: 'files.read', input: { path: id } }] },
      message: 'say',
    });
  const read = (id: string, content = 'x\n') =>
    newEvent('agent', 'result', {
      args: {
        operation: 'files.read',
        ok: true,
        output: {
          path: id,
          content,
          from: 1,
          to: 1,
          lines: 1,
          size: content.length,
          next: null,
          version,
        },
        seconds: 0,
      },
      message: 'result',
      id,
    });
  const filesAfter = (events: readonly NewEvent[]) => {
    const whole = events.map((event, index) => ({ ...event, seq: index + 1, time: '' }));
    return foldConversation(whole).files.files;
  };
  const knownAfter = (events: readonly NewEvent[]) => [...filesAfter(events).keys()];
  const compact = (summary: string) =>
    newEvent('agent', 'compact', {
      args: {
        through: 1,
        summary,
        longest: 1_200,
        dropped: { messages: 1, results: 1, tokens: 1 },
      },
      message: 'compact',
    });
  beforeEach(() => log.splice(0, Infinity, say('a'), read('a'), say('b'), read('b')));

  it.each([
    ['a summary', 'Summary.', 'x\n'],
    ['its result was cut', '', `${'x'.repeat(2_000)}\n`],
  ])('is not what it read before a compaction: %s', (_, summary, content) => {
    log[1] = read('a', content);
    expect(knownAfter([...log, say('c')])).toEqual(['a', 'b']);
    expect(knownAfter([...log, compact(summary), say('c')])).toEqual(['b']);
    // Reading it again shows it again.
    const again = [say('a'), read('a'), say('c')];
    expect(knownAfter([...log, compact(summary), ...again])).toEqual(['b', 'a']);
  });

  it('is what a compaction has left in the prompt, as the user changed it since', () => {
    expect(knownAfter([...log, compact(''), say('c')])).toEqual(['a', 'b']);
    const now = 'fedcba9876543210';
    const input = { path: 'b', content: 'y\n' };
    const change = { path: 'b', before: version, version: now };
    const written = newEvent('agent', 'result', {
      args: { operation: 'files.write', ok: true, output: {}, seconds: 0, changes: [change] },
      message: 'result',
      id: 'u1',
    });
    const byHand: NewEvent[] = [
      { source: 'user', action: 'files.write', args: input, message: 'b', id: 'u1' },
      written,
    ];
    for (const summary of ['', 'Summary.']) {
      const events = [...log, ...byHand, say('c'), compact(summary), say('d')];
      expect(filesAfter(events).get('b')?.version).toBe(now);
    }
  });
});
