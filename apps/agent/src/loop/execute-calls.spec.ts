import { AppError, newEvent } from '@belay/protocol';
import { lastText, Stage, type StageOptions } from '../testing/stage.js';

const read = (path: string) => ({ operation: 'files.read', input: { path } });
const command = { operation: 'terminal.run', input: { command: 'npm test' } };
const write = { operation: 'files.write', input: { path: 'a', content: 'x' } };

/** Reads that wait until so many of them run, and how many ran at once at most. */
function meeting(size: number) {
  const all = Promise.withResolvers<void>();
  const seen = { running: 0, most: 0, order: [] as string[] };
  const handler = async ({ path }: { path: string }) => {
    seen.order.push(path);
    seen.running++;
    seen.most = Math.max(seen.most, seen.running);
    if (seen.running === size) all.resolve();
    await all.promise;
    seen.running--;
    return { content: path } as never;
  };
  return { seen, handler };
}

describe('calls of one reply', () => {
  let stage: Stage;
  const play = (options: StageOptions) => (stage = new Stage(options));
  const log = () => stage.log.map(({ action, id }) => `${action} ${id ?? ''}`.trim()).join(', ');
  afterEach(() => stage.close());

  it('run at the same time when they only read, and answer in the order of the calls', async () => {
    const late = Promise.withResolvers<void>();
    play({
      turns: [{ calls: [read('slow'), read('quick')] }],
      handlers: {
        // The first can only end after the second has begun, and ends after it.
        'files.read': async ({ path }) => {
          if (path === 'quick') setImmediate(() => late.resolve());
          else await late.promise;
          return { content: path } as never;
        },
      },
    });
    await stage.event('finish');
    expect(log()).toMatch(
      /^start, say, files.read c1-1, files.read c1-2, result c1-1, result c1-2, say/,
    );
    expect(stage.requests[1]!.messages.at(-1)).toMatchObject({
      role: 'tool',
      results: [
        { id: 'c1-1', output: { content: 'slow' } },
        { id: 'c1-2', output: { content: 'quick' } },
      ],
    });
  });

  it('run eight at a time', async () => {
    const { seen, handler } = meeting(8);
    const names = Array.from({ length: 16 }, (_, index) => `file-${index}`);
    play({ turns: [{ calls: names.map(read) }], handlers: { 'files.read': handler } });
    await stage.event('finish');
    expect(seen).toEqual({ running: 0, most: 8, order: names });
    expect(stage.results().slice(0, 16)).toMatchObject(
      names.map((content) => ({ args: { ok: true, output: { content } } })),
    );
  });

  it('wait for one that changes something, which waits for those before it', async () => {
    const order: string[] = [];
    const slowly = (name: string) => async () => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
      return {} as never;
    };
    play({
      turns: [{ calls: [read('a'), write, read('b')] }],
      handlers: { 'files.read': slowly('read'), 'files.write': slowly('write') },
    });
    await stage.event('finish');
    expect(order.join(', ')).toBe(
      'read begins, read ends, write begins, write ends, read begins, read ends',
    );
  });

  it('run as the user changed them before allowing them, and the model is told', async () => {
    const ran: string[] = [];
    play({
      turns: [{ calls: [command] }],
      approve: async () => ({ verdict: 'approved', edited: { command: 'npm test -- --ci' } }),
      handlers: {
        'terminal.run': async (input) => {
          ran.push(input.command);
          return {} as never;
        },
      },
    });
    await stage.event('finish');
    expect(ran).toEqual(['npm test -- --ci']);
    expect(stage.results()[0]?.args['note']).toBe(
      'The user changed this call before allowing it. This ran instead: npm test -- --ci',
    );
    expect(stage.results()[0]?.args['edited']).toEqual({ command: 'npm test -- --ci' });
  });

  it('do not look at the one page of the browser at the same time', async () => {
    const { seen, handler } = meeting(1);
    const look = { operation: 'browser.read', input: {} };
    play({
      turns: [{ calls: [look, look, look] }],
      handlers: { 'browser.read': () => handler({ path: 'page' }) },
    });
    await stage.event('finish');
    expect(seen.most).toBe(1);
    expect(seen.order).toHaveLength(3);
  });

  it('each have a result when one fails, one is nonsense and a user stops the rest', async () => {
    const begun = Promise.withResolvers<void>();
    play({
      turns: [{ calls: [read('gone'), { ...read('x'), input: {} }, read('hangs'), write] }],
      handlers: {
        'files.read': ({ path }, { signal }) => {
          if (path === 'gone')
            return Promise.reject(new AppError('not_found', 'There is no file gone.'));
          return new Promise((_resolve, reject) => {
            begun.resolve();
            signal.addEventListener('abort', () => reject(signal.reason));
          });
        },
      },
    });
    await begun.promise;
    await stage.say(newEvent('user', 'stop', { args: {}, message: 'stop' }));
    await stage.until(() => stage.results().length === 3);
    expect(stage.results().map(({ id, args }) => [id, args['ok']])).toEqual([
      ['c1-1', false],
      ['c1-2', false],
      ['c1-3', false],
    ]);
    await stage.message('Go on');
    await stage.event('finish');
    const results = stage.requests[1]!.messages.find(({ role }) => role === 'tool');
    expect(results).toMatchObject({
      results: ['c1-1', 'c1-2', 'c1-3', 'c1-4'].map((id) => ({ id, failed: true })),
    });
    expect(lastText(stage.requests[1]!.messages)).toBe('Go on');
  });

  it('that run are awaited by a pause, and those after them by its end', async () => {
    const both = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const begun = new Set<string>();
    play({
      turns: [{ calls: [read('a'), read('b'), write] }],
      handlers: {
        'files.read': async ({ path }) => {
          if (begun.add(path).size === 2) both.resolve();
          await go.promise;
          return {} as never;
        },
        'files.write': async () => ({}) as never,
      },
    });
    await both.promise;
    await stage.say(newEvent('user', 'pause', { args: {}, message: 'pause' }));
    await stage.message('Mind the tabs', { delivery: 'steer' });
    go.resolve();
    await stage.until(() => stage.results().length === 2);
    expect(stage.log.some(({ action }) => action === 'files.write')).toBe(false);
    await stage.say(newEvent('user', 'resume', { args: {}, message: 'resume' }));
    await stage.event('finish');
    expect(stage.results().slice(0, 3)).toMatchObject(
      ['c1-1', 'c1-2', 'c1-3'].map((id) => ({ id, args: { ok: id !== 'c1-3' } })),
    );
    expect(lastText(stage.requests[1]!.messages)).toBe('Mind the tabs');
  });

  it('end their wait when the user steers, and those that have not begun are not run', async () => {
    const begun = Promise.withResolvers<void>();
    play({
      turns: [{ calls: [command, write, { operation: 'finish', input: { summary: 'x' } }] }],
      handlers: {
        'terminal.run': async (_, { userWrote }) => {
          const written = new Promise((resolve) => userWrote?.addEventListener('abort', resolve));
          begun.resolve();
          await written;
          return { status: 'running' } as never;
        },
        'files.write': async () => ({}) as never,
      },
    });
    await begun.promise;
    await stage.message('When you are done: tidy up');
    await stage.message('Stop, use tabs', { delivery: 'steer' });
    await stage.event('finish');
    const [ran, ...rest] = stage.results().slice(0, 3);
    expect(ran?.args).toMatchObject({ ok: true, output: { status: 'running' } });
    for (const { args } of rest) {
      expect(args).toMatchObject({ ok: false, output: { code: 'cancelled' }, seconds: 0 });
      expect(args['output']).toMatchObject({
        message: expect.stringMatching(/^Not run: the user wrote/),
      });
    }
    expect(stage.log.some(({ action }) => action === 'files.write')).toBe(false);
    expect(JSON.stringify(stage.requests[1]!.messages)).toContain('Stop, use tabs');
  });

  it('do not wait for an approval once the user steers', async () => {
    const asked = Promise.withResolvers<void>();
    play({
      turns: [{ calls: [command] }],
      approve: (_, signal) => {
        asked.resolve();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      },
      handlers: { 'terminal.run': async () => ({}) as never },
    });
    await asked.promise;
    await stage.message('Not this one', { delivery: 'steer' });
    await stage.event('finish');
    expect(stage.results()[0]?.args).toMatchObject({
      ok: false,
      output: { message: expect.stringMatching(/^Not run: the user wrote/) },
    });
    expect(lastText(stage.requests[1]!.messages)).toBe('Not this one');
  });

  it('take as long as they ran, without the time of their approval', async () => {
    let clock = 0;
    const played = jest.spyOn(performance, 'now').mockImplementation(() => clock);
    play({
      turns: [{ calls: [command] }],
      approve: async () => ((clock += 60_000), { verdict: 'approved' }),
      handlers: { 'terminal.run': async () => ((clock += 1_500), {}) as never },
    });
    await stage.event('finish');
    played.mockRestore();
    expect(stage.results()[0]?.args['seconds']).toBe(1.5);
  });

  it('carry what the server refused of connections beside their output', async () => {
    let asked = 0;
    play({
      turns: [{ calls: [read('a')] }, { calls: [read('b')] }],
      handlers: { 'files.read': async () => ({}) as never },
      refusals: async () => (asked++ === 0 ? 'x.example:443 refused: No.' : undefined),
    });
    await stage.event('finish');
    const [first, second] = stage.results();
    expect(first?.args).toMatchObject({ ok: true, note: 'x.example:443 refused: No.' });
    expect(second?.args).not.toHaveProperty('note');
    expect(lastText(stage.requests[1]!.messages)).toContain('x.example:443 refused: No.');
  });

  it.each([
    [{ reason: 'Not now.' }, 'The user did not allow this: Not now.'],
    [{ by: 'rule' as const, reason: 'A rule.' }, /^A rule rejects such calls/],
    [{ by: 'server' as const, reason: 'It ended.' }, 'This was not allowed: It ended.'],
  ])('say who rejected them: %j', async (decision, message) => {
    play({
      turns: [{ calls: [{ operation: 'terminal.run', input: { command: 'ls' } }] }],
      approve: async () => ({ verdict: 'rejected', ...decision }),
    });
    await stage.event('finish');
    const text = expect.stringMatching(message) as string;
    expect(stage.results()[0]?.args).toMatchObject({ output: { code: 'rejected', message: text } });
  });

  it('are read as models write them that were trained elsewhere, and told what was ignored', async () => {
    const inputs: unknown[] = [];
    const odd = { file_path: 'a', offset: '5', limit: '10', cwd: '/tmp' };
    play({
      turns: [{ calls: [{ operation: 'files_read', input: odd }, read('b')] }],
      handlers: { 'files.read': async (input) => (inputs.push(input), {}) as never },
    });
    await stage.event('finish');
    expect(inputs[0]).toMatchObject({ path: 'a', offset: 5, limit: 10 });
    // What is approved and shown is what runs.
    const call = stage.log.find(({ action, id }) => action === 'files.read' && id === 'c1-1');
    expect(call?.args).toMatchObject({ path: 'a', offset: 5, limit: 10 });
    expect(call?.args).not.toHaveProperty('cwd');
    const [first, second] = stage.results();
    expect(first?.args['note']).toBe('files.read has no input `cwd`: ignored.');
    expect(second?.args).not.toHaveProperty('note');
  });

  it('run by the names of tools that models know, with their fields, and are approved as what they are', async () => {
    const inputs: unknown[] = [];
    const asked: string[] = [];
    play({
      turns: [
        {
          calls: [
            { operation: 'Read', input: { file_path: 'a', offset: 5 } },
            { operation: 'Bash', input: { command: 'ls', timeout: 60_000, description: 'List' } },
            { operation: 'Task', input: { prompt: 'Do it' } },
            { operation: 'WebSearch', input: { query: 'x' } },
          ],
        },
      ],
      approve: async ({ operation, input }) => {
        asked.push(`${operation} ${JSON.stringify(input)}`);
        return { verdict: 'approved' };
      },
      handlers: {
        'files.read': async (input) => (inputs.push(input), {}) as never,
        'terminal.run': async (input) => (inputs.push(input), {}) as never,
      },
    });
    await stage.event('finish');
    expect(inputs).toMatchObject([
      { path: 'a', offset: 5 },
      { command: 'ls', timeout: 60 },
    ]);
    expect(asked).toEqual([expect.stringMatching(/^terminal\.run .*"timeout":60/)]);
    const [read, run, task, search] = stage.results().map(({ args }) => args);
    expect(read).toMatchObject({ operation: 'files.read', ok: true });
    expect(run).toMatchObject({
      operation: 'terminal.run',
      note: 'terminal.run has no input `description`: ignored.',
    });
    expect(task).toMatchObject({
      ok: false,
      output: {
        message: 'Task was not run. There is no operation for other agents: do the work yourself.',
      },
    });
    expect(search).toMatchObject({
      ok: false,
      output: {
        message: expect.stringContaining('This session has no operation for that: Search the web'),
      },
    });
  });

  it('wait for the user in the mode safe, reads and edits too, from the moment it is set', async () => {
    const asked: string[] = [];
    play({
      settings: { approvals: 'auto' },
      turns: [
        { calls: [read('a')] },
        async () => {
          const change = { args: { approvals: 'safe' as const }, message: 'safe' };
          await stage.say(newEvent('user', 'change', change));
          return { calls: [read('b'), { operation: 'think', input: { thought: 'x' } }] };
        },
      ],
      approve: async ({ operation, input }) => {
        asked.push(`${operation} ${JSON.stringify(input)}`);
        return { verdict: 'rejected', reason: 'Not this.' };
      },
      handlers: { 'files.read': async () => ({}) as never },
    });
    await stage.event('finish');
    expect(asked).toEqual([expect.stringMatching(/^files\.read .*"b"/)]);
    expect(stage.results().map(({ args }) => args['ok'])).toEqual(
      expect.arrayContaining([true, false]),
    );
    expect(lastText(stage.requests[2]!.messages)).toContain('Approvals: safe.');
  });

  it('are told once of each input that was ignored', async () => {
    const call = (path: string, more = {}) => ({
      operation: 'files.read',
      input: { path, description: 'Look', ...more },
    });
    play({
      turns: [
        { calls: [call('a'), call('b')] },
        {
          calls: [
            call('c', { color: 'red' }),
            { operation: 'files.list', input: { description: '' } },
          ],
        },
      ],
      handlers: {
        'files.read': async () => ({}) as never,
        'files.list': async () => ({}) as never,
      },
    });
    await stage.event('finish');
    expect(stage.results().map(({ args }) => args['note'])).toEqual([
      'files.read has no input `description`: ignored.',
      undefined,
      'files.read has no input `color`: ignored.',
      'files.list has no input `description`: ignored.',
      undefined,
    ]);
  });

  it('read guidance of a folder once, however many of them look into it', async () => {
    const asked: (readonly string[])[] = [];
    play({
      settings: { trust: true },
      turns: [{ calls: [read('src/a'), read('src/b')] }],
      handlers: { 'files.read': async () => ({}) as never },
      guidance: async (paths, known) => {
        asked.push(paths);
        if (paths.length === 0 || known.has('src/AGENTS.md')) return [];
        return [{ path: 'src/AGENTS.md', text: 'Use tabs.' }];
      },
    });
    await stage.event('finish');
    expect(asked).toContainEqual(['src/a', 'src/b']);
    expect(stage.log.filter(({ action }) => action === 'guidance')).toHaveLength(1);
  });
});
