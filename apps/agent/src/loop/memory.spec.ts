import { pause } from '@belay/testing';
import { newEvent } from '@belay/protocol';
import { rebuiltPrompts } from '../testing/rebuilt-prompts.js';
import { Stage, lastText, type StageOptions } from '../testing/stage.js';

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
    expect(rebuiltPrompts(stage.log)).toEqual(stage.requests.map((request) => request.messages));
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
    expect(rebuiltPrompts(stage.log)).toEqual(stage.requests.map((request) => request.messages));
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
    expect(rebuiltPrompts(stage.log)).toEqual(stage.requests.map((request) => request.messages));
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
