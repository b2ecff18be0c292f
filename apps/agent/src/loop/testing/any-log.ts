import { newEvent, type AgentTurn, type Event, type NewEvent } from '@belay/protocol';
import { isOwn } from '../counted.js';

const settings = { task: 'Do it', model: 'scripted:x' };

/** A repeatable source of choices (mulberry32). */
export function choices(seed: number) {
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
export function shuffled(events: readonly Event[], seed: number): Event[] {
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

interface Growing {
  log: Event[];
  /** Of the calls so far. */
  ids: [string, ...string[]];
  below: (limit: number) => number;
  one: <T>(items: readonly [T, ...T[]]) => T;
}
type Kinds = [() => NewEvent, ...(() => NewEvent)[]];

/** Replies, calls and results, of which some do not fit. */
function callKinds({ log, ids, below, one }: Growing): Kinds {
  const call = (action: string, source: 'agent' | 'user', id: string): NewEvent => ({
    source,
    action,
    args: { question: 'Which?' },
    message: action,
    id,
  });
  return [
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
  ];
}

/** What users, the server and the agent itself write besides. */
function otherKinds({ log, below, one }: Growing): (() => NewEvent)[] {
  const seq = () => 1 + below(log.length + 1);
  const byUser = (action: 'pause' | 'resume' | 'stop') =>
    newEvent('user', action, { args: {}, message: action });
  const state = (name: 'failed' | 'finished' | 'running') =>
    newEvent('server', 'state', { args: { state: name, reason: null }, message: name });
  return [
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
}

/** A log of any events that a session may have, in an order that may never happen. */
export function anyLog(seed: number, length: number): Event[] {
  const log: Event[] = [];
  const growing: Growing = { log, ids: ['none'], ...choices(seed) };
  const kinds: Kinds = [...callKinds(growing), ...otherKinds(growing)];
  const append = (event: NewEvent) => log.push({ ...event, time: '', seq: log.length + 1 });
  append(newEvent('user', 'start', { args: settings, message: 'start' }));
  while (log.length < length) append(growing.one(kinds)());
  return log;
}
