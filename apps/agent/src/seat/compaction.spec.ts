import { AppError, isEvent, newEvent, type Event } from '@belay/protocol';
import { foldConversation } from '../loop/conversation-log.js';
import { prompt } from '../loop/prompt.js';
import { describeSeat } from '../testing/describe-seat.js';
import { readText, type Seat, type Situation } from '../testing/seat.js';

/** Stage’s window has 1,000 tokens: this prompt has nearly filled it. */
const full = { inputTokens: 900, cachedTokens: 0, outputTokens: 10, dollars: null };
const read = (path: string, more: object = {}) => ({
  calls: [{ operation: 'files.read', input: { path } }],
  ...more,
});
const summary = { text: 'SUMMARY', usage: full };
const last = ({ stage }: Seat) => stage.requests.at(-1)!.messages.map(readText).join('\n');
const compacts = ({ stage }: Seat) =>
  stage.log.flatMap((event) => (isEvent(event, 'compact') ? [event] : []));
const answer = (content: string) => ({ 'files.read': async () => ({ content }) as never });
const table = (rows: number) =>
  Array.from({ length: rows }, (_, line) => ({
    path: `src/module-${line}.ts`,
    line,
    text: `const value${line} = compute(${line}); // ${'-'.repeat(40)}`,
  }));

/** The conversation is summarized after the user wrote. */
const kept = (name: string, texts: string[], also: (prompt: string) => void): Situation => ({
  name,
  breaks: true,
  handlers: answer('x'.repeat(1_000)),
  turns: ({ stage }) => [
    async () => {
      for (const text of texts) await stage.message(text, { delivery: 'next' });
      return read('1');
    },
    read('2'),
    read('3', { usage: full }),
    summary,
    read('4'),
  ],
  also: (seat) => {
    expect(compacts(seat)).toHaveLength(1);
    expect(last(seat)).toContain('SUMMARY');
    also(last(seat));
  },
});

describeSeat('a conversation that grows too long', [
  kept('all that the user wrote is still there word for word', ['Never touch tests/'], (text) => {
    expect(text).toContain('\nNever touch tests/\n');
    expect(text.indexOf('Do it')).toBeLessThan(text.indexOf('Never touch tests/'));
    expect(text.indexOf('Never touch tests/')).toBeLessThan(text.indexOf('SUMMARY'));
  }),
  kept(
    'an old and huge message of the user is cut in the middle, a new one is whole',
    [`OLD ${'o'.repeat(90_000)} END`, `NEW ${'n'.repeat(70_000)} END`],
    (text) => {
      expect(text).toContain(`NEW ${'n'.repeat(70_000)} END`);
      expect(text).toMatch(/OLD o+\n\[… \d+ characters of this message were left out/);
      expect(text).toMatch(/…\]\no+ END/);
    },
  ),
  {
    name: 'what the user answered and why a call was rejected is still there',
    breaks: true,
    settings: { approvals: 'ask' },
    handlers: answer('x'.repeat(1_000)),
    approve: async () => ({ verdict: 'rejected', reason: 'use yarn' }),
    turns: () => [
      { calls: [{ operation: 'ask', input: { question: 'Which colour?' } }] },
      { calls: [{ operation: 'terminal.run', input: { command: 'npm i' } }] },
      read('1'),
      read('2', { usage: full }),
      summary,
    ],
    meanwhile: async ({ stage }) => {
      await stage.event('ask');
      await stage.message('Blue');
    },
    also: (seat) => {
      expect(last(seat)).toContain('You asked: Which colour?\nThe user answered: Blue');
      expect(last(seat)).toContain(
        'You called terminal.run {"command":"npm i"}\nThe user did not allow this: use yarn',
      );
    },
  },
  {
    name: 'what the user wrote survives a second summary, too',
    breaks: true,
    handlers: answer('x'.repeat(1_000)),
    turns: ({ stage }) => [
      async () => {
        await stage.message('Never touch tests/', { delivery: 'next' });
        return read('1');
      },
      read('2', { usage: full }),
      summary,
      read('3'),
      read('4', { usage: full }),
      { ...summary, text: 'SECOND' },
    ],
    also: (seat) => {
      expect(compacts(seat)).toHaveLength(2);
      expect(last(seat)).toContain('Never touch tests/');
      expect(last(seat)).toContain('SECOND');
      expect(last(seat)).not.toContain('SUMMARY');
    },
  },
  {
    name: 'the newest results stay whole, and the cache breaks once',
    breaks: true,
    handlers: { 'files.read': async ({ path }) => ({ content: `${path} `.repeat(150) }) as never },
    turns: () => [
      ...['a1', 'a2', 'a3', 'a4', 'a5'].map((path) => read(path)),
      read('a6', { usage: full }),
      summary,
      read('a7'),
      read('a8'),
    ],
    also: (seat) => {
      expect(compacts(seat)).toHaveLength(1);
      // A quarter of the window, which is 1,000 characters: two results of 450.
      expect(last(seat)).toContain('a6 '.repeat(150).trim());
      expect(last(seat)).not.toContain('a3 a3');
    },
  },
  {
    name: 'long results alone are cut if that frees half of the prompt',
    breaks: true,
    handlers: { 'files.read': async ({ path }) => ({ content: path.repeat(20_000) }) as never },
    turns: () => [read('a'), read('b'), read('c', { usage: full })],
    also: (seat) => {
      expect(compacts(seat)).toMatchObject([{ args: { summary: '', dropped: { messages: 0 } } }]);
      expect(last(seat)).toMatch(/a{400}\n\[… \d+ characters were dropped/);
      expect(last(seat)).toContain('c'.repeat(20_000));
      expect(seat.stage.requests.every(({ purpose }) => purpose === 'turn')).toBe(true);
    },
  },
  {
    name: 'the log says how many tokens less are sent, not stored',
    breaks: true,
    handlers: { 'files.search': async () => ({ matches: table(400), next: null }) as never },
    turns: () => [
      { calls: [{ operation: 'files.search', input: { pattern: 'value' } }] },
      { calls: [{ operation: 'think', input: { thought: 'x'.repeat(1_000) } }], usage: full },
    ],
    also: (seat) => {
      const [compact] = compacts(seat);
      const size = (index: number) =>
        seat.stage.requests[index]!.messages.map(readText).join('').length;
      // The reply between the two requests adds a little.
      const saved = (size(1) - size(2)) / 4;
      expect(compact!.args.dropped.tokens).toBeGreaterThan(saved);
      expect(compact!.args.dropped.tokens).toBeLessThan(saved + 500);
    },
  },
  {
    name: 'a long table that is cut stays a table, and says how much is missing',
    breaks: true,
    handlers: { 'files.search': async () => ({ matches: table(400), next: null }) as never },
    turns: () => [
      { calls: [{ operation: 'files.search', input: { pattern: 'value' } }] },
      { calls: [{ operation: 'think', input: { thought: 'x'.repeat(1_000) } }], usage: full },
    ],
    also: (seat) => {
      expect(last(seat)).toContain('matches:\npath\tline\ttext\nsrc/module-0.ts\t0\tconst value0');
      expect(last(seat)).toMatch(/"matches \(shortened\)":"\d+ more were dropped to save space"/);
    },
  },
  {
    name: 'after an overflow the largest result is cut first, without a paid summary',
    breaks: true,
    handlers: {
      'files.read': async ({ path }) =>
        ({ content: path === 'big' ? 'b'.repeat(100_000) : `${path}`.repeat(2_000) }) as never,
    },
    turns: () => [read('s'), read('big'), read('t'), new AppError('context_overflow', 'Too long.')],
    also: (seat) => {
      expect(compacts(seat)).toMatchObject([{ args: { summary: '', longest: 40_000 } }]);
      expect(last(seat)).toMatch(/b\n\[… \d+ characters were dropped/);
      expect(last(seat)).toContain('s'.repeat(2_000));
      expect(seat.stage.requests.some(({ purpose }) => purpose === 'compact')).toBe(false);
    },
  },
  {
    name: 'after an overflow of many short results they are summarized',
    breaks: true,
    handlers: answer('short'),
    turns: () => [
      ...Array.from({ length: 8 }, (_, index) => read(`${index}`)),
      new AppError('context_overflow', 'Too long.'),
      summary,
    ],
    also: (seat) => {
      expect(compacts(seat)).toHaveLength(1);
      expect(last(seat)).toContain('SUMMARY');
    },
  },
  {
    name: 'a summary that does not fit either is replaced by what I did',
    breaks: true,
    handlers: answer('short'),
    turns: () => [
      ...Array.from({ length: 8 }, (_, index) => read(`file-${index}`)),
      new AppError('context_overflow', 'Too long.'),
      new AppError('context_overflow', 'Still too long.'),
    ],
    also: (seat) => {
      expect(last(seat)).toContain('What was done, in order:\n- files.read {"path":"file-0"}');
    },
  },
  {
    name: 'nothing is left to shorten: the user is told what to do',
    until: 'error',
    turns: () => [new AppError('context_overflow', 'Too long.')],
    told: ['Do it'],
    also: ({ stage }) => {
      expect(stage.log.at(-1)?.message).toMatch(/Rewind to an earlier step or choose a model/);
    },
  },
  {
    name: 'I know which files I changed and read, and what still runs',
    breaks: true,
    files: { 'a.txt': 'one\n', 'b.txt': 'two\n' },
    turns: () => [
      { calls: [{ operation: 'files.read', input: { path: 'b.txt' } }] },
      {
        calls: [
          { operation: 'files.write', input: { path: 'new.txt', content: 'x\n' } },
          {
            operation: 'terminal.run',
            input: { command: 'sleep 300', terminal: 'srv', background: true },
          },
        ],
      },
      { calls: [{ operation: 'think', input: { thought: 'y'.repeat(1_200) } }], usage: full },
      summary,
    ],
    also: (seat) => {
      expect(last(seat)).toContain('Files that you changed: new.txt');
      expect(last(seat)).toContain('Other files that you read: b.txt');
      expect(last(seat)).toMatch(/Still running: `sleep 300` \(terminal srv, in \S+\)/);
    },
  },
  {
    name: 'a file that only the summary mentions must be read again before I overwrite it',
    breaks: true,
    files: { 'a.txt': 'one\n' },
    turns: () => [
      { calls: [{ operation: 'files.read', input: { path: 'a.txt' } }] },
      { calls: [{ operation: 'think', input: { thought: 'y'.repeat(1_200) } }], usage: full },
      summary,
      { calls: [{ operation: 'files.write', input: { path: 'a.txt', content: 'gone\n' } }] },
      { calls: [{ operation: 'files.read', input: { path: 'a.txt' } }] },
      { calls: [{ operation: 'files.write', input: { path: 'a.txt', content: 'two\n' } }] },
    ],
    also: ({ stage }) => {
      const writes = stage
        .results()
        .flatMap(({ args }) => (args['operation'] === 'files.write' ? [args['ok']] : []));
      expect(writes).toEqual([false, true]);
    },
  },
  {
    name: 'the user undoes the shortening: all is there again',
    breaks: true,
    handlers: answer('x'.repeat(20_000)),
    turns: () => [read('1'), read('2'), read('3', { usage: full }), read('4')],
    also: ({ stage }) => {
      const compact = stage.log.find((event) => isEvent(event, 'compact'))!;
      const restore: Event = {
        ...newEvent('user', 'restore', { args: { seq: compact.seq }, message: 'restore' }),
        seq: stage.log.length + 1,
        time: '',
      };
      const restored = prompt(foldConversation([...stage.log, restore]));
      expect(restored.map(readText).join('\n')).not.toContain('were dropped');
    },
  },
]);
