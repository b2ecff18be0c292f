import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  newEvent,
  ReceivedPrompt,
  SentPrompt,
  type AgentTurn,
  type Event,
  type ModelRequest,
  type NewEvent,
} from '@belay/protocol';
import { Stage, type ScriptedReply } from '../testing/stage.js';
import { ConversationLog, foldConversation } from './conversation-log.js';
import { isOwn, matters } from './counted.js';
import { prompt } from './prompt.js';

const cassette = join(__dirname, '../../../../e2e/system/forty-steps/cassette.jsonl');
const usage = { inputTokens: 900, cachedTokens: 0, outputTokens: 10, dollars: null };

/** Asserts after every event that the conversation is that of a fold of all events so far; returns how many there were. */
function expectEqualAfterEach(ordered: readonly Event[]): number {
  const log = new ConversationLog();
  const sofar: Event[] = [];
  for (const event of ordered.filter(matters)) {
    sofar.push(event);
    log.append(event);
    const expected = foldConversation(sofar);
    expect(log.conversation).toEqual(expected);
    expect(log.conversation.files.files).toEqual(expected.files.files);
    expect(prompt(log.conversation)).toEqual(prompt(expected));
  }
  return sofar.length;
}

/** A repeatable source of choices (mulberry32). */
function choices(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    below: (limit: number) => Math.floor(next() * limit),
    one: <T>(items: readonly [T, ...T[]]): T =>
      items[Math.floor(next() * items.length)] ?? items[0],
  };
}

/** An agent has its own events and those of others in order, but learns of the two at different times. */
function shuffled(events: readonly Event[], seed: number): Event[] {
  const { below } = choices(seed);
  const own = events.filter(isOwn);
  const others = events.filter((event) => !isOwn(event));
  const ordered: Event[] = [];
  while (own.length + others.length > 0) {
    const early = (own[0]?.seq ?? Infinity) < (others[0]?.seq ?? Infinity) ? own : others;
    const late = early === own ? others : own;
    const next = (below(6) === 0 && late.length > 0 ? late : early).shift();
    if (next) ordered.push(next);
  }
  return ordered;
}

/** A log of any events that a session may have, in an order that may never happen. */
function generated(seed: number, length: number): Event[] {
  const { below, one } = choices(seed);
  const settings = { task: 'Do it', model: 'scripted:x' };
  const log: Event[] = [];
  const ids: [string, ...string[]] = ['none'];
  const seq = () => 1 + below(log.length + 1);
  const byUser = (action: 'pause' | 'resume' | 'stop') =>
    newEvent('user', action, { args: {}, message: action });
  const call = (action: string, source: 'agent' | 'user', id: string): NewEvent => ({
    source,
    action,
    args: { question: 'Which?' },
    message: action,
    id,
  });
  const state = (name: 'failed' | 'finished' | 'running') =>
    newEvent('server', 'state', { args: { state: name, reason: null }, message: name });
  const kinds: [() => NewEvent, ...(() => NewEvent)[]] = [
    () => {
      const own = Math.max(0, log.length - below(4));
      const calls = Array.from({ length: below(3) }, (_, index) => {
        const id = `c${log.length}-${index}`;
        ids.push(id);
        return { id, operation: one(['files.read', 'terminal.run', 'ask', 'finish']), input: {} };
      });
      const seen = below(8) > 0 ? { own, others: Math.max(0, log.length - below(3)) } : undefined;
      const sandbox = below(5) === 0 ? `Sandbox ${log.length}` : undefined;
      return newEvent('agent', 'say', {
        args: { text: one(['', 'Text']), calls, seen, sandbox },
        message: 'say',
      });
    },
    () => call(one(['files.read', 'terminal.run', 'ask']), 'agent', one([...ids])),
    () => {
      const id = `user-${log.length}`;
      ids.push(id);
      return call(one(['files.write', 'workspace.trust', 'files.read']), 'user', id);
    },
    ...[ids.length, 1, 2].map(
      () => () =>
        newEvent('agent', 'result', {
          args: {
            operation: one(['files.read', 'terminal.run', 'ask', 'finish', 'workspace.trust']),
            ok: below(4) > 0,
            output: { content: 'x'.repeat(2_000) },
            seconds: 0,
            ...(below(6) === 0 && { note: 'Stuck.' }),
          },
          message: 'result',
          id: below(3) > 0 ? (ids.at(-1) ?? 'none') : one([...ids]),
        }),
    ),
    () =>
      newEvent('user', 'message', {
        args: {
          text: `Message ${log.length}`,
          delivery: one(['queue', 'steer']),
          pinned: below(3) === 0,
        },
        message: 'message',
      }),
    () => newEvent('user', 'edit', { args: { message: seq(), text: 'Other' }, message: 'edit' }),
    () => newEvent('user', 'withdraw', { args: { message: seq() }, message: 'withdraw' }),
    () => newEvent('agent', 'plan', { args: { markdown: `- [ ] ${log.length}` }, message: 'plan' }),
    () =>
      newEvent('agent', 'guidance', {
        args: { files: [{ path: one(['AGENTS.md', 'a/AGENTS.md']), text: `${log.length}` }] },
        message: 'guidance',
      }),
    () =>
      newEvent('agent', 'compact', {
        args: {
          through: seq(),
          summary: one(['', 'Summary']),
          dropped: { messages: 1, results: 1, tokens: 1 },
        },
        message: 'compact',
      }),
    () => newEvent('user', 'restore', { args: { seq: seq() }, message: 'restore' }),
    () =>
      newEvent('user', 'rewind', {
        args: { seq: seq(), what: one(['files', 'conversation', 'both']) },
        message: 'rewind',
      }),
    () => byUser(one(['pause', 'resume', 'stop'])),
    () => {
      const through = Math.max(0, log.length - below(3));
      const began: AgentTurn = { change: 'began', conversation: `c${log.length}`, through };
      const args = one<AgentTurn>([began, { change: 'ended', end: 'done' }]);
      return newEvent('agent', 'turn', { args, message: 'turn' });
    },
    () => state(one(['failed', 'finished', 'running'])),
    () => newEvent('user', 'start', { args: { ...settings, again: true }, message: 'start' }),
    () =>
      newEvent('agent', 'error', { args: { code: 'internal', message: 'No.' }, message: 'No.' }),
    () =>
      newEvent('server', 'limit', {
        args: { budget: 'steps', limit: 1, used: 1 },
        message: 'limit',
      }),
  ];
  const append = (event: NewEvent) => log.push({ ...event, time: '', seq: log.length + 1 });
  append(newEvent('user', 'start', { args: settings, message: 'start' }));
  while (log.length < length) append(one(kinds)());
  return log;
}

describe('the conversation of a growing log', () => {
  it('equals a fold of the whole log after every event of a session', async () => {
    const turns: ScriptedReply[] = readFileSync(cassette, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line) as { reply: { text: string; calls: [] } })
      .map(({ reply: { text, calls } }) => ({ text, calls }));
    turns.splice(12, 0, { text: 'Nothing to call.' }, async () => {
      await stage.message('Mind the tabs', { delivery: 'steer', pinned: true });
      await stage.call('user-1', 'files.write', { path: 'a', content: 'b' });
      return { calls: [{ operation: 'files.read', input: { path: 'a' } }], usage };
    });
    turns.splice(14, 0, { calls: [{ operation: 'ask', input: { question: 'Which?' } }] });
    const handler = async () => ({ content: 'x'.repeat(3_000), status: 'exited' }) as never;
    const stage = new Stage({
      turns,
      handlers: {
        'terminal.run': handler,
        'files.list': handler,
        'files.read': handler,
        'files.write': handler,
        'files.edit': handler,
        'files.patch': handler,
        'files.search': handler,
        'files.replace-text': handler,
      },
    });
    await stage.event('ask');
    await stage.message('The second');
    await stage.event('finish');
    const log = [...stage.log];
    await stage.close();
    const replies = log.filter(({ action }) => action === 'say').length;
    expect(replies).toBeGreaterThanOrEqual(40);
    const after = (action: 'rewind' | 'restore', args: object): Event => ({
      ...newEvent('user', action, { args: args as never, message: action }),
      seq: log.length + 1,
      time: '',
    });
    log.push(after('rewind', { seq: 60, what: 'both' }));
    log.push(after('restore', { seq: log.length }));
    expect(expectEqualAfterEach(log)).toBeGreaterThan(120);
    for (let seed = 1; seed <= 3; seed++) expectEqualAfterEach(shuffled(log, seed));
  });

  it('equals a fold of the whole log after every event of logs that may never happen', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const log = generated(seed, 60);
      expectEqualAfterEach(log);
      expectEqualAfterEach(shuffled(log, seed));
    }
  });

  it('shows the effect of one more event, and stays as it is', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const events = generated(seed, 40);
      const log = new ConversationLog();
      for (const event of events) log.append(event);
      const before = structuredClone(log.conversation);
      const args = { operation: 'files.read', ok: true, output: 'x', seconds: 0 };
      const id = events.findLast(({ action }) => action === 'files.read')?.id ?? 'none';
      const next = {
        ...newEvent('agent', 'result', { args, message: 'result', id }),
        time: '',
        seq: Number.MAX_SAFE_INTEGER,
      };
      expect(log.with(next)).toEqual(foldConversation([...events, next]));
      expect(log.conversation).toEqual(before);
    }
  });

  it('reaches the server whole, though each request sends only what is new', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { below } = choices(seed);
      const sessions = [seed, seed + 100].map((each) => ({
        events: shuffled(generated(each, 60), each).filter(matters),
        log: new ConversationLog(),
        sent: new SentPrompt(),
        received: new ReceivedPrompt(),
      }));
      for (let at = 0; at < 60; at++) {
        for (const session of sessions) {
          const event = session.events[at];
          if (!event) continue;
          session.log.append(event);
          // The server may have been restarted, or have let go of the prompt.
          if (below(10) === 0) session.received = new ReceivedPrompt();
          if (below(10) === 0) session.received.forget();
          const messages = prompt(session.log.conversation);
          const request: ModelRequest = { purpose: 'turn', messages, operations: ['ask'] };
          const { sent, received } = session;
          const arrived = await sent.send(request, async (call) => received.take(overWire(call)));
          expect(arrived).toEqual(overWire(request));
        }
      }
    }
  });
});

const overWire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
