import { AppError, newEvent, isEvent } from '@belay/protocol';
import { lastText, Stage, type StageOptions } from '../testing/stage.js';

const read = { operation: 'files.read', input: { path: 'a.txt' } };
const write = { operation: 'files.write', input: { path: 'a.txt', content: 'x' } };
const command = { operation: 'terminal.run', input: { command: 'npm test' } };
const user = (action: 'pause' | 'resume' | 'stop') =>
  newEvent('user', action, { args: {}, message: action });

describe('the loop', () => {
  let stage: Stage;
  const play = (options: StageOptions) => (stage = new Stage(options));
  afterEach(() => stage.close());

  it('asks the model, runs its calls in order, and ends at finish', async () => {
    const order: string[] = [];
    play({
      turns: [{ text: 'I look.', calls: [read, write] }],
      handlers: {
        'files.read': async () => (order.push('read'), {}) as never,
        'files.write': async () => (order.push('write'), {}) as never,
      },
    });
    await stage.event('finish');
    await stage.until(() => stage.results().length === 3);
    expect(order).toEqual(['read', 'write']);
    expect(stage.log.map((event) => event.action).join(' ')).toBe(
      'start say files.read result files.write result say finish result',
    );
    expect(stage.commits).toEqual(['c1-2']);
    expect(stage.requests[0]!.messages).toMatchObject([
      { role: 'system', text: expect.stringContaining('A stage.') },
      { role: 'user', text: 'Do it' },
    ]);
    expect(stage.requests[1]!.messages.slice(2)).toMatchObject([
      { role: 'assistant', text: 'I look.', calls: [{ id: 'c1-1' }, { id: 'c1-2' }] },
      {
        role: 'tool',
        results: [
          { id: 'c1-1', failed: false },
          { id: 'c1-2', failed: false },
        ],
      },
    ]);
  });

  it('answers calls that cannot be run with one sentence, and goes on', async () => {
    play({
      turns: [
        {
          calls: [
            { operation: 'files.destroy', input: {} },
            { operation: 'files.edit', input: { path: 'a', change: 'INSERT', from: 0 } },
            { operation: 'files.read', invalid: 'The input ends too early.' },
            { operation: 'files_read', input: { path: 'a' } },
            { operation: 'files_replace_text', input: { path: 'a', find: '', replace: '' } },
            { operation: 'workspace.log', input: {} },
          ],
        },
      ],
      handlers: {
        'files.read': () => Promise.reject(new AppError('not_found', 'There is no file a.')),
      },
    });
    await stage.event('finish');
    const outputs = stage.results().map((result) => result.args['output'] as { message: string });
    expect(outputs.map((output) => output.message)).toEqual([
      expect.stringMatching(/^There is no operation files\.destroy; the nearest (is|are) files\./),
      expect.stringMatching(/^The input of files\.edit is not valid: from: /),
      'files.read was not run. The input ends too early.',
      'There is no file a.',
      expect.stringMatching(/^The input of files\.replace-text is not valid: find: /),
      expect.stringMatching(/^There is no operation workspace\.log/),
    ]);
    // Only the call that was begun is in the log as a call.
    expect(stage.log.filter((event) => event.id === 'c1-4').map((event) => event.action)).toEqual([
      'files.read',
      'result',
    ]);
    expect(stage.log.some((event) => event.action === 'files.edit')).toBe(false);
  });

  it('gives calls ids of their own when a model numbers them anew', async () => {
    const again = { calls: [{ ...read, id: 'call_0' }] };
    play({ turns: [again, again], handlers: { 'files.read': async () => ({}) as never } });
    await stage.event('finish');
    expect(
      stage
        .results()
        .slice(0, 2)
        .map((result) => result.id),
    ).toEqual(['call_0', 'call_0-2']);
  });

  it('asks before it executes, and gives the model the reason of a rejection', async () => {
    const asked: unknown[] = [];
    play({
      turns: [{ calls: [command, read] }],
      approve: async (request) => {
        asked.push(request);
        return { verdict: 'rejected', reason: 'run only the unit tests' };
      },
      handlers: { 'files.read': async () => ({}) as never },
    });
    await stage.event('finish');
    expect(asked).toEqual([
      expect.objectContaining({ id: 'c1-1', operation: 'terminal.run', subject: 'npm test' }),
    ]);
    expect(stage.results()[0]!.args).toMatchObject({
      ok: false,
      output: { code: 'rejected', message: expect.stringContaining('run only the unit tests') },
    });
  });

  it('keeps an approval that waits through a pause, and runs the call after it', async () => {
    const approval = Promise.withResolvers<{ verdict: 'approved' }>();
    let ran = false;
    play({
      turns: [{ calls: [command] }],
      approve: () => approval.promise,
      handlers: { 'terminal.run': async () => ((ran = true), {}) as never },
    });
    await stage.event('terminal.run');
    await stage.say(user('pause'));
    approval.resolve({ verdict: 'approved' });
    await stage.call('p1', 'plan.update', {}).catch(() => undefined);
    expect(ran).toBe(false);
    await stage.say(user('resume'));
    await stage.event('finish');
    expect(ran).toBe(true);
  });

  it('pauses after the current call', async () => {
    const [begun, running] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    play({
      turns: [{ calls: [command] }],
      handlers: {
        'terminal.run': async () => (begun.resolve(), await running.promise, {}) as never,
      },
    });
    await begun.promise;
    await stage.say(user('pause'));
    running.resolve();
    await stage.event('result');
    expect(stage.requests).toHaveLength(1);
    await stage.say(user('resume'));
    await stage.event('finish');
    expect(stage.results()[0]!.args).toMatchObject({ ok: true });
  });

  it('stops: the command is killed, later calls are not run, and a message goes on', async () => {
    const begun = Promise.withResolvers<AbortSignal>();
    play({
      turns: [{ calls: [command, write] }, { calls: [read] }],
      handlers: {
        'terminal.run': (_, context) => {
          begun.resolve(context.signal);
          return new Promise((_resolve, reject) => {
            context.signal.addEventListener('abort', () => reject(context.signal.reason));
          });
        },
        'files.read': async () => ({}) as never,
      },
    });
    stage.running = [{ terminal: 'main', command: 'npm test' }];
    const signal = await begun.promise;
    await stage.say(user('stop'));
    await stage.event('result');
    expect(signal.aborted).toBe(true);
    expect(stage.killed).toEqual(['main']);
    expect(stage.results()[0]!.args).toMatchObject({
      ok: false,
      output: { code: 'cancelled', message: 'The user stopped the agent.' },
    });
    expect(stage.requests).toHaveLength(1);
    await stage.message('Only read it');
    await stage.event('finish');
    expect(stage.log.some((event) => event.action === 'files.write')).toBe(false);
    expect(stage.requests[1]!.messages.slice(2)).toMatchObject([
      { role: 'assistant' },
      {
        role: 'tool',
        results: [
          { id: 'c1-1', failed: true },
          { id: 'c1-2', failed: true },
        ],
      },
      { role: 'user', text: 'Only read it' },
    ]);
  });

  it('aborts a call of the model when it is stopped', async () => {
    const aborted = Promise.withResolvers<void>();
    play({
      turns: [
        (_, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              aborted.resolve();
              reject(new AppError('cancelled', 'Cancelled.'));
            });
          }),
      ],
    });
    await stage.asked(1);
    await stage.say(user('stop'));
    await aborted.promise;
    await stage.say(
      newEvent('user', 'start', { args: { ...stage.settings, again: true }, message: 'again' }),
    );
    await stage.event('finish');
    expect(lastText(stage.requests[1]!.messages)).toMatch(/started again/);
  });

  it('ask waits for the next message, which is its answer', async () => {
    play({ turns: [{ calls: [{ operation: 'ask', input: { question: 'Which colour?' } }] }] });
    await stage.event('ask');
    expect(stage.results()).toEqual([]);
    await stage.message('Blue');
    await stage.event('finish');
    expect(stage.results()[0]!.args).toMatchObject({
      operation: 'ask',
      output: { answer: 'Blue' },
    });
    const { messages } = stage.requests[1]!;
    expect(messages.filter((message) => message.role === 'user')).toHaveLength(1);
    expect(lastText(messages)).toContain('Blue');
  });

  it('a review answers no question, and comes to the model with the answer', async () => {
    play({ turns: [{ calls: [{ operation: 'ask', input: { question: 'Which colour?' } }] }] });
    await stage.event('ask');
    await stage.message('About this change: too long', { review: { id: 'r', comments: [] } });
    await stage.message('Blue');
    await stage.event('finish');
    expect(stage.results()[0]!.args).toMatchObject({ output: { answer: 'Blue' } });
    const { messages } = stage.requests[1]!;
    expect(lastText(messages)).toContain('too long');
  });

  it('a steering message comes before the next prompt, a queued one at the end of the turn', async () => {
    const running = Promise.withResolvers<void>();
    play({
      turns: [{ calls: [command] }, { calls: [{ operation: 'think', input: { thought: 'x' } }] }],
      handlers: { 'terminal.run': async () => (await running.promise, {}) as never },
    });
    await stage.event('terminal.run');
    await stage.message('When you are done: tidy up');
    await stage.message('Use tabs', { delivery: 'steer' });
    running.resolve();
    await stage.event('say', 4);
    const [, second, third, fourth] = stage.requests.map(({ messages }) =>
      JSON.stringify(messages),
    );
    expect(second).toContain('Use tabs');
    expect(second).not.toContain('tidy up');
    // Its finish was refused for the message that waited.
    expect(third).not.toContain('tidy up');
    expect(fourth).toContain('tidy up');
    expect(fourth).toContain('the user wrote meanwhile');
  });

  it('believes finish only alone in its reply, and when all is read', async () => {
    const end = (input: object) => ({ operation: 'finish', input });
    const test = { operation: 'terminal.run', input: { command: 'npm test' } };
    play({
      turns: [
        { calls: [test, end({ summary: 'tests pass' })] },
        { calls: [end({ summary: 'too early' }), test] },
        async () => {
          await stage.call('u1', 'files.write', { path: 'n.js', content: '' });
          return { calls: [end({ summary: 'unread' })] };
        },
        { calls: [end({ summary: 'seen' })] },
      ],
      handlers: {
        'terminal.run': async () => ({ status: 'exited', exitCode: 1 }) as never,
        'files.write': async () => ({}) as never,
      },
    });
    await stage.until(() =>
      stage.results().some(({ args }) => args['operation'] === 'finish' && args['ok']),
    );
    const results = stage.results().map(({ args }) => args);
    // Every call has a result: the test after a refused finish ran as well.
    expect(results.filter(({ operation }) => operation === 'terminal.run')).toHaveLength(2);
    expect(
      results
        .filter(({ operation }) => operation === 'finish')
        .map(({ ok, output }) => [ok, output]),
    ).toEqual([
      [false, expect.objectContaining({ message: expect.stringMatching(/alone in its reply/) })],
      [false, expect.objectContaining({ message: expect.stringMatching(/alone in its reply/) })],
      [false, expect.objectContaining({ message: expect.stringMatching(/by hand meanwhile/) })],
      [true, expect.objectContaining({ summary: 'seen' })],
    ]);
  });

  it.each([
    [{}, 'It works.', 'It works.'],
    [{ summary: ' ' }, 'It works.', 'It works.'],
    [{ result: 'Done.' }, 'It works.', 'Done.'],
    [{}, '', ''],
  ])('takes a finish with %j and the text “%s”', async (input, text, summary) => {
    play({ turns: [{ text, calls: [{ operation: 'finish', input }] }] });
    await stage.until(() => stage.results().length > 0);
    expect(stage.results()[0]?.args).toMatchObject({ ok: true, output: { summary } });
  });

  it('does not end before it has told how a background command ended', async () => {
    const end = (summary: string) => ({ calls: [{ operation: 'finish', input: { summary } }] });
    const exit = {
      terminal: 'server',
      command: 'node server.js',
      status: 'exited' as const,
      exitCode: 1,
      seconds: 3,
      text: 'Error: no port',
    };
    play({
      turns: [
        () => {
          stage.append(newEvent('agent', 'exit', { args: exit, message: 'The server ended.' }));
          return end('it runs');
        },
        end('it crashed'),
      ],
    });
    const { args } = await stage.event('finish');
    expect(args).toMatchObject({ summary: 'it crashed' });
    expect(stage.results()[0]?.args).toMatchObject({
      ok: false,
      output: { message: expect.stringMatching(/background command ended meanwhile/) },
    });
    expect(lastText(stage.requests[1]!.messages)).toContain('node server.js');
  });

  it('continues after its end when the user writes', async () => {
    play({ turns: [{ calls: [{ operation: 'finish', input: { summary: 'done' } }] }] });
    await stage.event('result');
    await stage.message('One more thing');
    await stage.event('finish', 2);
    expect(lastText(stage.requests[1]!.messages)).toBe('One more thing');
  });

  it('reports to the model what a user did by hand, but not reads', async () => {
    const running = Promise.withResolvers<void>();
    play({
      turns: [{ calls: [command] }],
      handlers: {
        'terminal.run': async () => (await running.promise, {}) as never,
        'files.write': async () => ({}) as never,
        'files.read': async () => ({ content: 'x' }) as never,
      },
    });
    await stage.event('terminal.run');
    await stage.call('p1', 'files.write', { path: 'mine.txt', content: 'x' });
    expect(await stage.call('p2', 'files.read', { path: 'a' })).toEqual({ content: 'x' });
    running.resolve();
    await stage.event('finish');
    expect(lastText(stage.requests[1]!.messages)).toBe(
      'The user did this by hand: files.write mine.txt',
    );
    expect(stage.log.filter((event) => event.id === 'p1')).toMatchObject([
      { action: 'files.write', source: 'user', args: { path: 'mine.txt' } },
      { action: 'result', source: 'user' },
    ]);
    expect(stage.log.some((event) => event.id === 'p2')).toBe(false);
    expect(stage.commits).toContain('p1');
    await expect(stage.call('p3', 'ask', { question: 'x' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('a spent budget ends the work without another call', async () => {
    play({ turns: [new AppError('limit_reached', 'The budget is spent.')] });
    await stage.asked(1);
    await stage.say(
      newEvent('server', 'limit', {
        args: { budget: 'steps', limit: 1, used: 1 },
        message: 'limit',
      }),
    );
    expect(stage.log.some((event) => event.action === 'error')).toBe(false);
    await stage.message('Now with a larger budget');
    await stage.event('finish');
    expect(stage.requests).toHaveLength(2);
  });

  it('a limit on wall time ends a command that runs, too', async () => {
    const begun = Promise.withResolvers<void>();
    play({
      turns: [{ calls: [command] }],
      handlers: {
        'terminal.run': (_, { signal }) =>
          new Promise((_resolve, reject) => {
            begun.resolve();
            signal.addEventListener('abort', () => reject(signal.reason));
          }),
      },
    });
    stage.running = [{ terminal: 'main', command: 'npm test' }];
    await begun.promise;
    await stage.say(
      newEvent('server', 'limit', {
        args: { budget: 'seconds', limit: 1, used: 1 },
        message: 'limit',
      }),
    );
    await stage.event('result');
    expect(stage.results()[0]!.args).toMatchObject({ output: { code: 'limit_reached' } });
    expect(stage.killed).toEqual(['main']);
    expect(stage.requests).toHaveLength(1);
  });

  it('a conversation that is rewound goes on from there with the next message', async () => {
    play({
      turns: [
        { text: 'First', calls: [read] },
        { text: 'Second', calls: [{ operation: 'ask', input: { question: 'Good?' } }] },
      ],
      handlers: { 'files.read': async () => ({}) as never },
    });
    await stage.event('ask');
    const seq = stage.log.find((event) => isEvent(event, 'result'))!.seq;
    await stage.say(newEvent('user', 'rewind', { args: { seq, what: 'both' }, message: 'rewind' }));
    await stage.message('Do it differently');
    await stage.event('finish');
    const { messages } = stage.requests[2]!;
    expect(JSON.stringify(messages)).not.toContain('Second');
    expect(messages.slice(2)).toMatchObject([
      { role: 'assistant', text: 'First' },
      { role: 'tool' },
      { role: 'user', text: 'Do it differently' },
    ]);
  });
});
