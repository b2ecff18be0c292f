import { newEvent, type NewEvent } from '@belay/protocol';
import { filesBench, type FilesBench } from '../files/testing/files-bench.js';
import { foldConversation } from './conversation-log.js';
import { describeEditChains } from './testing/describe-edit-chains.js';
import { Reader } from './testing/reader.js';

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
});

describeEditChains([0, 1, 2, 3, 4]);

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
