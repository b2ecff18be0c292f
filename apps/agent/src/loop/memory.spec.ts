import { pause } from '@belay/testing';
import { AppError, newEvent, isEvent, type Event } from '@belay/protocol';
import { Stage, lastText, type StageOptions } from '../testing/stage.js';
import { foldConversation, sandboxOf } from './conversation-log.js';
import { isOwn } from './counted.js';
import { prompt } from './prompt.js';

const read = { operation: 'files.read', input: { path: 'a.txt' } };
const command = { operation: 'terminal.run', input: { command: 'npm test' } };

const usage = (purpose: 'turn' | 'compact' = 'turn') =>
  newEvent('server', 'usage', {
    args: {
      inputTokens: 90,
      cachedTokens: 0,
      outputTokens: 10,
      dollars: 0.105,
      model: 'scripted:x',
      purpose,
      contextTokens: 90,
      contextWindow: null,
    },
    message: 'used',
  });

/** Rebuilds from the stored log alone the prompts that led to each reply in it. */
function rebuilt(log: Event[]) {
  return log
    .filter((event) => isEvent(event, 'say'))
    .map(({ args: { seen, notice } }) => {
      const known = log.filter((event) => event.seq <= (isOwn(event) ? seen!.own : seen!.others));
      return prompt({ ...foldConversation(known), sandbox: sandboxOf(log) }, notice);
    });
}

describe('the log alone', () => {
  let stage: Stage;
  const play = (options: StageOptions) => (stage = new Stage(options));
  afterEach(() => stage.close());

  it('rebuilds every prompt exactly, whatever came in between', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    play({
      settings: { images: ['a'.repeat(64)] },
      turns: [
        async () => {
          // While the model replies a user acts and writes: neither was in this prompt.
          await stage.call('p1', 'files.write', { path: 'x', content: '' });
          await stage.message('Hurry', { delivery: 'next' });
          return { text: 'One', reasoning: 'r', opaque: { signature: 's' }, calls: [read] };
        },
        { calls: [command] },
        { text: 'Two' },
        { calls: [{ operation: 'ask', input: { question: 'Which?' } }, read] },
        async () => {
          await stage.message('Later, please');
          return { calls: [read, read] };
        },
        { text: 'Three' },
      ],
      handlers: {
        'terminal.run': async () => (await gates[0]!.promise, { status: 'exited' }) as never,
        'files.read': async () => ({ content: 'text' }) as never,
        'files.write': async () => ({}) as never,
      },
    });
    await stage.event('terminal.run');
    await stage.message('In the middle');
    gates[0]!.resolve();
    await stage.event('ask');
    await stage.message('That one', { pinned: true });
    await stage.event('finish');
    expect(stage.requests.length).toBeGreaterThan(5);
    expect(rebuilt(stage.log)).toEqual(stage.requests.map((request) => request.messages));
    expect(JSON.stringify(stage.requests[0])).not.toContain('Hurry');
    expect(JSON.stringify(stage.requests[1])).toContain('Hurry');
  });

  it('rebuilds what the prompts said of budgets and of changed settings, once and at the end', async () => {
    const used = () => stage.say(usage(), usage('compact'));
    const budgets = { steps: 5, tokens: null, dollars: null, seconds: null };
    play({
      settings: { budgets: { steps: 6 } },
      turns: [
        async () => (await used(), { calls: [read] }),
        async () => {
          await used();
          const args = { approvals: 'auto', budgets } as const;
          await stage.say(newEvent('user', 'change', { args, message: 'Less' }));
          return { calls: [read] };
        },
        async () => (await used(), { text: 'Nothing to call' }),
        async () => (await used(), { text: 'Nothing again' }),
      ],
      handlers: { 'files.read': async () => ({ content: 'text' }) as never },
    });
    // The notice after the reminder does not hide that there was one.
    await stage.event('end');
    await stage.message('Finish, then');
    await stage.event('finish');
    expect(stage.requests.map(({ messages }) => lastText(messages))).toEqual([
      'Do it',
      expect.stringContaining('"content"'),
      '3 of 5 steps left, this one included: finish, or say what is missing.',
      '2 of 5 steps left, this one included: finish, or say what is missing.',
      expect.stringMatching(/^This is the last of 5 steps: call finish now/),
    ]);
    expect(lastText(stage.requests[2]!.messages.slice(0, -1))).toMatch(
      /^The user changed settings\.\nApprovals: auto\..*\nBudgets: 5 steps/,
    );
    expect(rebuilt(stage.log)).toEqual(stage.requests.map((request) => request.messages));
  });

  it('continues after a crash: begun calls fail with the reason, the others run', async () => {
    play({
      turns: [{ calls: [command, read] }],
      handlers: { 'terminal.run': () => new Promise(() => {}) },
    });
    await stage.event('terminal.run');
    const crashed = [...stage.log];
    await stage.close();
    const failed = newEvent('server', 'state', {
      args: { state: 'failed', reason: 'The agent died.' },
      message: 'failed',
    });
    const again = newEvent('user', 'start', {
      args: { ...stage.settings, again: true },
      message: 'again',
    });
    const time = new Date().toISOString();
    const events = [failed, again].map((event, index) => ({
      ...event,
      time,
      seq: crashed.length + 1 + index,
    }));
    play({
      turns: [],
      events: [...crashed, ...events],
      epoch: 2,
      handlers: { 'files.read': async () => ({ content: 'x' }) as never },
    });
    await stage.event('finish');
    expect(stage.results().slice(0, 2)).toMatchObject([
      { id: 'c1-1', args: { ok: false, output: { message: expect.stringMatching(/restarted/) } } },
      { id: 'c1-2', args: { ok: true } },
    ]);
    expect(stage.requests).toHaveLength(1);
    expect(stage.requests[0]!.messages.slice(0, 2)).toMatchObject([
      { role: 'system', text: expect.stringContaining('A stage.') },
      { role: 'user', text: 'Do it' },
    ]);
    expect(lastText(stage.requests[0]!.messages)).toMatch(/started again/);
  });

  it('does nothing in a sandbox that is woken for an ended session', async () => {
    play({ turns: [{ calls: [{ operation: 'finish', input: { summary: 'done' } }] }] });
    await stage.event('result');
    const ended = [...stage.log];
    await stage.close();
    play({
      turns: [],
      events: ended,
      epoch: 2,
      handlers: { 'files.read': async () => ({ content: 'x' }) as never },
    });
    await stage.begun();
    expect(await stage.call('p1', 'files.read', { path: 'a' })).toEqual({ content: 'x' });
    await stage.call('p2', 'workspace.trust', {});
    expect(stage.requests).toEqual([]);
  });

  it('loses and doubles nothing when the connection breaks and the disk is slow', async () => {
    let calls = 0;
    play({
      turns: Array.from({ length: 12 }, () => ({ calls: [read, command] })),
      handlers: {
        'files.read': async () => {
          if (++calls % 3 === 0) {
            stage.connections.break();
            void pause(5, 'the break lasts').then(() => stage.connections.reconnect());
          }
          return { content: String(calls) } as never;
        },
        'terminal.run': async () => ({ status: 'exited', exitCode: 0, text: `${calls}` }) as never,
      },
    });
    stage.refuseAppend = 1;
    await stage.message('Hello', { delivery: 'steer' });
    await stage.event('finish');
    const ids = stage
      .results()
      .filter((result) => result.args['operation'] !== 'finish')
      .map((result) => result.id);
    expect(ids).toHaveLength(24);
    expect(new Set(ids).size).toBe(24);
    expect(rebuilt(stage.log)).toEqual(stage.requests.map((request) => request.messages));
  });

  it('goes on with a server that was killed and started again', async () => {
    const running = Promise.withResolvers<void>();
    play({
      turns: [{ calls: [command] }],
      handlers: { 'terminal.run': async () => (await running.promise, {}) as never },
    });
    await stage.event('terminal.run');
    stage.serve(stage.connections.restartServer());
    running.resolve();
    stage.connections.reconnect();
    await stage.event('finish');
    expect(stage.log.map((event) => event.action).join(' ')).toMatch(
      /^start say terminal.run result say finish/,
    );
  });

  it('an agent that a newer one has replaced ends', async () => {
    play({ turns: [{ calls: [read] }], handlers: { 'files.read': async () => ({}) as never } });
    stage.fenced = true;
    await expect(stage.ended).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('a conversation that grows too long', () => {
  let stage: Stage;
  afterEach(() => stage.close());
  const long = 'x'.repeat(5_000);
  const usage = { inputTokens: 900, cachedTokens: 0, outputTokens: 10, dollars: null };
  const reads = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, index) => ({
      text: `reply ${index}`,
      calls: [{ operation: 'files.read', input: { path: `${index}` } }],
      ...more,
    }));

  it('first loses the middle of old results, then is replaced by a summary that keeps what matters', async () => {
    let length = long;
    stage = new Stage({
      settings: { trust: true },
      guidance: async (_, known) =>
        known.size === 0 ? [{ path: 'AGENTS.md', text: 'Use tabs.' }] : [],
      turns: [
        { calls: [{ operation: 'plan.update', input: { markdown: '- [ ] everything' } }] },
        ...reads(6),
        async () => {
          await stage.message('Never touch b.txt', { delivery: 'next', pinned: true });
          length = 'short';
          return { ...reads(1, { usage })[0] };
        },
        ...reads(5),
        ...reads(1, { usage }),
        ...reads(1, { usage }),
        { text: 'I read files and found nothing.' },
        ...reads(1),
      ],
      handlers: {
        'files.read': async () => ({ content: length }) as never,
      },
    });
    await stage.event('finish');
    const compacts = stage.log.filter((event) => isEvent(event, 'compact'));
    const first = compacts[0];
    const second = compacts.at(-1);
    expect(first!.args).toMatchObject({ summary: '', dropped: { messages: 0 } });
    expect(first!.message).toMatch(/^Shortened \d+ results of operations, about \d+ tokens less$/);
    expect(second!.args.summary).toBe('I read files and found nothing.');
    expect(second!.message).toMatch(/^Replaced \d+ messages with \d+ results by a summary/);
    // All turns but the newest, and none of the words that are kept.
    expect(second!.args.dropped).toMatchObject({ messages: 12, results: 12 });
    const summarized = stage.requests.find((request) => request.purpose === 'compact')!;
    expect(summarized.operations).toEqual(stage.requests[0]!.operations);
    const last = stage.requests.at(-1)!.messages;
    const text = JSON.stringify(last);
    expect(last[0]).toMatchObject({ role: 'system', text: expect.stringContaining('Use tabs.') });
    expect(last.slice(1, 4)).toMatchObject([
      { role: 'user', text: 'Do it' },
      { role: 'user', text: 'Never touch b.txt' },
      { role: 'user', text: expect.stringContaining('found nothing') },
    ]);
    expect(text).not.toContain(long);
    const turns = stage.requests.filter((request) => request.purpose === 'turn');
    expect(rebuilt(stage.log)).toEqual(turns.map((request) => request.messages));

    // Undone, everything is there again.
    const restored = (seq: number): Event => ({
      ...newEvent('user', 'restore', { args: { seq }, message: 'restore' }),
      seq: stage.log.length + seq,
      time: '',
    });
    const both = [...stage.log, ...compacts.map((compact) => restored(compact.seq))];
    expect(JSON.stringify(prompt(foldConversation(both)))).toContain(long);
    expect(JSON.stringify(prompt(foldConversation(both)))).not.toContain('found nothing');
  });

  it('is shortened when it does not fit, and tried again', async () => {
    stage = new Stage({
      turns: [...reads(5), new AppError('context_overflow', 'Too long.'), ...reads(1)],
      handlers: { 'files.read': async () => ({ content: long }) as never },
    });
    await stage.event('finish');
    expect(stage.log.filter((event) => event.action === 'compact')).toHaveLength(1);
    expect(stage.log.some((event) => event.action === 'error')).toBe(false);
  });

  it('ends with a sentence when nothing is left to shorten', async () => {
    stage = new Stage({ turns: [new AppError('context_overflow', 'Too long.')] });
    const error = await stage.event('error');
    expect(error.args['message']).toMatch(/no longer fits/);
  });
});
