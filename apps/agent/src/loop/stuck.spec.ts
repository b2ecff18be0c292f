import { newEvent } from '@belay/protocol';
import { Stage, type StageOptions } from '../testing/stage.js';

const think = (thought: string) => ({ operation: 'think', input: { thought } });
const call = (operation: string, input: object) => ({ calls: [{ operation, input }] });
const read = (path: string) => call('files.read', { path });
const notes = (stage: Stage) =>
  stage.results().flatMap(({ args }) => (typeof args['note'] === 'string' ? args['note'] : []));

describe('going round in circles', () => {
  let stage: Stage;
  const play = (options: StageOptions) => (stage = new Stage(options));
  afterEach(() => stage.close());

  it('the same call with the same result: the model gets a note, then the user is asked', async () => {
    play({
      turns: Array.from({ length: 20 }, () => read('a')),
      handlers: { 'files.read': async () => ({ content: 'x' }) as never },
    });
    const question = await stage.event('ask');
    expect(question.message).toMatch(
      /^The agent is going round in circles: files\.read was called 4 times in a row/,
    );
    expect(notes(stage)).toEqual([
      expect.stringMatching(/going round in circles: files\.read was called 4 times/),
    ]);
    expect(JSON.stringify(stage.requests[4]!.messages.at(-1))).toContain('going round in circles');
    expect(stage.requests).toHaveLength(7);
    await stage.message('Read b instead');
    // An answer is a new beginning: it takes as many repetitions again.
    await stage.event('ask', 2);
    expect(stage.requests).toHaveLength(14);
  });

  it.each([
    ['two calls that take turns', [read('a'), read('b')], /take turns/],
    [
      'calls that all fail',
      [read('no-1'), read('no-2'), read('no-3'), read('no-4')],
      /replies failed/,
    ],
    [
      'nothing but thoughts',
      [1, 2, 3, 4, 5, 6].map((n) => ({ calls: [think(`${n}`)] })),
      /thoughts/,
    ],
  ])('%s', async (_, turns, sentence) => {
    play({
      turns: Array.from({ length: 24 }, (_none, index) => turns[index % turns.length]!),
      handlers: {
        'files.read': async ({ path }) =>
          path.startsWith('no')
            ? Promise.reject(new Error(`no ${path}`))
            : ({ content: path } as never),
      },
    });
    await stage.event('ask');
    expect(notes(stage)[0]).toMatch(sentence);
  });

  it('is not waiting for a command that runs', async () => {
    const running = { status: 'running', text: '', seconds: 1 };
    play({
      turns: [
        ...Array.from({ length: 8 }, () => call('terminal.read', {})),
        ...Array.from({ length: 8 }, () => call('terminal.run', { command: 'make' })),
        ...Array.from({ length: 8 }, () => call('terminal.run', { command: 'sleep 30' })),
      ],
      handlers: {
        'terminal.read': async () => running as never,
        'terminal.run': async ({ command }) =>
          (command === 'make' ? running : { ...running, status: 'exited' }) as never,
      },
    });
    await stage.event('finish');
    expect(notes(stage)).toEqual([]);
  });

  it('is not work with different results, nor after a message of the user', async () => {
    let count = 0;
    play({
      turns: Array.from({ length: 9 }, (_, index) =>
        index % 3 === 2
          ? async () => {
              await stage.say(
                newEvent('user', 'message', {
                  args: { text: 'Again', delivery: 'steer' },
                  message: 'Again',
                }),
              );
              return read('same');
            }
          : index < 5
            ? read('same')
            : read('other'),
      ),
      handlers: {
        'files.read': async ({ path }) =>
          ({ content: path === 'same' ? 'same' : String(++count) }) as never,
      },
    });
    await stage.event('finish');
    expect(notes(stage)).toEqual([]);
  });

  it('is not one reply that probes many paths in vain', async () => {
    const probe = (n: number) => ({ operation: 'files.read', input: { path: `missing-${n}` } });
    play({
      turns: [{ calls: Array.from({ length: 12 }, (_, n) => probe(n)) }, read('there')],
      handlers: {
        'files.read': async ({ path }) =>
          path === 'there' ? ({ content: 'x' } as never) : Promise.reject(new Error(`no ${path}`)),
      },
    });
    await stage.event('finish');
    expect(notes(stage)).toEqual([]);
  });

  it('the model is told of each pattern once, and the user is asked only about one it was told of', async () => {
    play({
      turns: [
        ...Array.from({ length: 5 }, () => read('a')),
        ...Array.from({ length: 6 }, (_, n) => read(`no-${n}`)),
        ...Array.from({ length: 6 }, () => read('a')),
      ],
      handlers: {
        'files.read': async ({ path }) =>
          path === 'a' ? ({ content: 'x' } as never) : Promise.reject(new Error(`no ${path}`)),
      },
    });
    const question = await stage.event('ask');
    expect(question.message).toMatch(/files\.read was called 4 times in a row/);
    expect(notes(stage)).toEqual([
      expect.stringMatching(/called 4 times in a row/),
      expect.stringMatching(/all calls of the last 6 replies failed/),
    ]);
  });
});
