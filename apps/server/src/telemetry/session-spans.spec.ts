import {
  newEvent,
  sessionSettings,
  type Decider,
  type Event,
  type NewEvent,
} from '@belay/protocol';
import { SessionSpans } from './session-spans.js';
import { usageEvent as usage } from './testing/usage-event.js';

const second = (at: number) => new Date(Date.UTC(2026, 10, 1) + at * 1000).toISOString();

/** Numbers events; each is a second after the one before it, unless it has a time. */
const numbered = (events: readonly NewEvent[]): Event[] =>
  events.map((event, index) => ({ time: second(index), ...event, seq: index + 1 }));

const settings = { task: 'Find the SECRET', model: 'anthropic:claude-x', title: 'SECRET title' };
const start = (more: object = {}) =>
  newEvent('user', 'start', { args: sessionSettings.parse({ ...settings, ...more }), message: '' });
const state = (to: 'running' | 'waiting' | 'finished' | 'failed' | 'limited' | 'stopped') =>
  newEvent('server', 'state', { args: { state: to, reason: 'SECRET' }, message: '' });
const say = (text = 'SECRET reply') =>
  newEvent('agent', 'say', {
    args: { text, calls: [{ id: 'c1', operation: 'terminal.run', input: {} }] },
    message: '',
  });
const call = (id = 'c1', action = 'terminal.run'): NewEvent => ({
  source: 'agent',
  action,
  args: { command: 'cat /home/SECRET' },
  message: '',
  id,
});
const result = (id = 'c1', more: object = {}) =>
  newEvent('agent', 'result', {
    args: { operation: 'terminal.run', ok: true, output: 'SECRET', seconds: 1, ...more },
    message: '',
    id,
  });
const approval = (id = 'c1') =>
  newEvent('server', 'approval', {
    args: {
      id,
      operation: 'terminal.run',
      input: {},
      risk: 'execute',
      subject: 'SECRET',
      mode: 'ask',
      until: null,
    },
    message: '',
    id,
  });
const caller: Decider = { kind: 'caller', id: 'user:1', label: 'SECRET' };
const approve = (by: Decider = caller) =>
  newEvent(by.kind === 'caller' ? 'user' : 'server', 'approve', {
    args: { by },
    message: '',
    id: 'c1',
  });
const turn = (args: object) =>
  newEvent('agent', 'turn', { args: args as { change: 'ended'; end: 'done' }, message: '' });

const spansOf = (events: readonly NewEvent[], content = false) =>
  new SessionSpans('s1', { content }).add(numbered(events));

const oneTurn = [
  start(),
  state('running'),
  usage(),
  say(),
  call(),
  approval(),
  state('waiting'),
  approve(),
  state('running'),
  result(),
  state('finished'),
];

describe('spans of a session', () => {
  it('has the turn as its root, and in it requests, calls and the questions about them', () => {
    const spans = spansOf(oneTurn);
    expect(spans.map(({ kind, key, parent, root }) => [kind, key, parent, root])).toEqual([
      ['start', 'start:1', 'turn:1', 'turn:1'],
      ['request', 'request:3', 'turn:1', 'turn:1'],
      ['approval', 'approval:6', 'call:5', 'turn:1'],
      ['call', 'call:5', 'turn:1', 'turn:1'],
      ['turn', 'turn:1', null, 'turn:1'],
    ]);
    expect(spans.map(({ name }) => name)).toEqual([
      'start_sandbox',
      'chat claude-x',
      'approval',
      'execute_tool terminal.run',
      'invoke_agent belay',
    ]);
    const seconds = spans.map(({ begun, ended }) => (ended - begun) / 1000);
    expect(seconds).toEqual([1, 0.25, 2, 5, 10]);
    expect(spans.every(({ error }) => error === null)).toBe(true);
  });

  it.each<Decider>([
    { kind: 'mode', mode: 'auto' },
    { kind: 'rule', rule: 'r1' },
  ])('says that nobody was asked about a call: %j', (by) => {
    const events = [start(), state('running'), usage(), say(), call(), approve(by), result()];
    const decided = spansOf(events).find(({ kind }) => kind === 'call');
    expect(decided?.attributes).toMatchObject({
      'belay.approval.verdict': 'approved',
      'belay.approval.by': by.kind,
    });
  });

  it('names the attributes by the conventions', () => {
    const [, request, question, tool, whole] = spansOf(oneTurn).map(({ attributes }) => attributes);
    const id = { 'gen_ai.conversation.id': 's1' };
    const model = { 'gen_ai.provider.name': 'anthropic', 'gen_ai.request.model': 'claude-x' };
    const tokens = {
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 10,
      'gen_ai.usage.cache_read.input_tokens': 40,
    };
    expect(request).toEqual({
      ...id,
      ...model,
      ...tokens,
      'gen_ai.operation.name': 'chat',
      'gen_ai.response.finish_reasons': ['tool_call'],
      'belay.purpose': 'turn',
      'belay.usage.dollars': 0.5,
    });
    const verdict = { 'belay.approval.verdict': 'approved', 'belay.approval.by': 'user' };
    expect(question).toEqual({
      ...id,
      ...verdict,
      'belay.approval.mode': 'ask',
      'belay.approval.risk': 'execute',
      'gen_ai.tool.name': 'terminal.run',
    });
    expect(tool).toEqual({
      ...id,
      ...verdict,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'terminal.run',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'c1',
      'belay.caller': 'agent',
    });
    expect(whole).toMatchObject({
      ...id,
      ...model,
      ...tokens,
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'belay',
      'belay.turn.end': 'finished',
    });
  });

  it('contains no text unless content is captured, and then within a limit', () => {
    expect(JSON.stringify(spansOf(oneTurn))).not.toContain('SECRET');
    const long = [...oneTurn.slice(0, 3), say('x'.repeat(1e6)), ...oneTurn.slice(4)];
    const [, request, , tool, whole] = spansOf(long, true).map(({ attributes }) => attributes);
    expect(whole?.['gen_ai.input.messages']).toBe(
      JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'Find the SECRET' }] }]),
    );
    expect(tool?.['gen_ai.tool.call.arguments']).toBe('{"command":"cat /home/SECRET"}');
    expect(tool?.['gen_ai.tool.call.result']).toBe('"SECRET"');
    for (const reply of [request, whole])
      expect(String(reply?.['gen_ai.output.messages']).length).toBeLessThan(4_200);
  });

  it('tells of a played model only its kind, because its name is a path', () => {
    const model = 'scripted:/home/SECRET/script.yaml';
    const spans = spansOf([start({ model }), usage({ model }), say(), state('finished')]);
    expect(JSON.stringify(spans)).not.toContain('SECRET');
    expect(spans[0]).toMatchObject({ name: 'chat scripted' });
  });

  it('marks what failed with a class of errors, without its message', () => {
    const refused = { ok: false, output: { code: 'rejected', message: 'SECRET' } };
    const odd = { ok: false, output: 'SECRET' };
    const error = newEvent('agent', 'error', {
      args: { code: 'model_failed', message: 'SECRET' },
      message: '',
    });
    const failed = [start(), call(), result('c1', refused), error, state('failed')];
    expect(spansOf(failed).map(({ kind, error: code }) => [kind, code])).toEqual([
      ['call', 'rejected'],
      ['start', 'model_failed'],
      ['turn', 'model_failed'],
    ]);
    expect(spansOf([start(), call(), result('c1', odd)])[0]?.error).toBe('_OTHER');
    expect(spansOf([start(), state('limited')]).at(-1)?.error).toBe('limit_reached');
    expect(spansOf([start(), state('stopped')]).at(-1)?.error).toBeNull();
    // A request that succeeds ends an interruption.
    const resumed = [start(), error, usage(), say(), state('failed')];
    expect(spansOf(resumed).at(-1)?.error).toBe('failed');
  });

  it('ends calls with the session, whose sandbox may be gone, and requests when they are settled', () => {
    const request = newEvent('server', 'request', {
      args: {
        request: 'r1',
        format: 'messages',
        model: 'anthropic:claude-x',
        purpose: 'turn',
        bytes: 1,
        messages: 1,
        tools: 0,
        reserved: { inputTokens: 1, outputTokens: 1, dollars: null },
      },
      message: '',
    });
    const fold = new SessionSpans('s1', { content: false });
    const ending = [start(), request, call(), state('failed')];
    expect(fold.add(numbered(ending)).map(({ kind, error }) => [kind, error])).toEqual([
      ['call', 'cancelled'],
      ['start', 'failed'],
      ['turn', 'failed'],
    ]);
    expect(fold.isIdle).toBe(false);
    const late = numbered([...ending, result(), usage({ request: 'r1' })]).slice(-2);
    const settled = fold.add(late);
    expect(settled).toMatchObject([{ kind: 'request', parent: 'turn:1', error: null }]);
    expect((settled[0]?.ended ?? 0) - (settled[0]?.begun ?? 0)).toBe(4_000);
    expect(fold.isIdle).toBe(true);
  });

  it('keeps an action that goes on in the background open until its end', () => {
    const action = 'action.deploy';
    const started = { operation: action, ok: true, output: { background: 'c1', text: '' } };
    const ended = newEvent('server', 'background-result', {
      args: { operation: action, ok: true, output: {}, seconds: 3 },
      message: '',
      id: 'c1',
    });
    const spans = spansOf([start(), call('c1', action), result('c1', started), ended]);
    expect(spans).toMatchObject([{ kind: 'call', name: `execute_tool ${action}` }]);
    expect((spans[0]?.ended ?? 0) - (spans[0]?.begun ?? 0)).toBe(2_000);
  });

  it('takes the turns of another vendor’s agent as its program reports them', () => {
    const agent = { name: 'codex', version: '1.2', protocol: 'acp' };
    const began = turn({ change: 'began', conversation: 'a', through: 1 });
    const done = turn({ change: 'ended', end: 'done' });
    const cut = turn({ change: 'ended', end: 'cut' });
    const spans = spansOf([start({ agent }), began, done, began, cut, state('finished')]);
    const turns = spans.filter(({ kind }) => kind === 'turn');
    expect(turns.map(({ key, name, error }) => [key, name, error])).toEqual([
      ['turn:1', 'invoke_agent codex', null],
      ['turn:4', 'invoke_agent codex', 'cut'],
    ]);
  });

  it('leaves out the events that a fork copied', () => {
    const fork = newEvent('server', 'fork', { args: { session: 's0', seq: 9 }, message: '' });
    const again = start({ again: true });
    const spans = spansOf([...oneTurn, fork, again, state('running'), state('finished')]);
    expect(spans.map(({ key }) => key)).toEqual(['start:13', 'turn:13']);
  });

  it('a user’s call while no agent works is a trace of its own', () => {
    const own = { ...call('user-1'), source: 'user' as const };
    expect(spansOf([own, result('user-1')])).toMatchObject([
      { kind: 'call', parent: null, root: 'call:1', attributes: { 'belay.caller': 'user' } },
    ]);
  });

  it('the same log gives the same spans, however it is cut into batches', () => {
    const fold = new SessionSpans('s1', { content: false });
    const piecewise = numbered(oneTurn).flatMap((event) => fold.add([event]));
    expect(piecewise).toEqual(spansOf(oneTurn));
  });

  describe('from a hostile agent', () => {
    it('no time makes a span end before it began, or begin before 1970', () => {
      const early = { time: '0001-01-01T00:00:00.000Z' };
      const spans = spansOf([
        { ...call('user-1'), ...early },
        { ...result('user-1'), ...early },
        start(),
        { ...call('c2'), ...early },
        { ...result('c2'), ...early },
        state('finished'),
      ]);
      expect(spans).toHaveLength(4);
      for (const { begun, ended } of spans) {
        expect(begun).toBeGreaterThanOrEqual(0);
        expect(ended).toBeGreaterThanOrEqual(begun);
      }
    });

    it('neither calls that never end nor long names fill the memory', () => {
      const many = Array.from({ length: 5_000 }, (_, at) =>
        call(`c${at}`, `mcp.x.${'n'.repeat(9_000)}`),
      );
      const fold = new SessionSpans('s1', { content: true });
      fold.add(numbered([start(), ...many]));
      const spans = fold.add([{ ...state('stopped'), seq: 6_000, time: second(6_000) }]);
      expect(spans.length).toBeLessThanOrEqual(1_002);
      expect(Math.max(...spans.map(({ name }) => name.length))).toBeLessThan(300);
      expect(fold.isIdle).toBe(true);
    });

    it.each(['constructor', '__proto__', 'toString'])('an action named %s is none', (action) => {
      expect(spansOf([start(), { ...call('c1', action) }, state('finished')])).toHaveLength(2);
    });
  });
});
