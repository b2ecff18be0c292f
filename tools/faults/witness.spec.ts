import type { BelayClient, LiveConnection, SessionListener } from '@belay/client';
import type { Event } from '@belay/protocol';
import { Witness } from './witness.ts';

const event = (seq: number, action: string, more: Partial<Event> = {}): Event => ({
  seq,
  time: '2026-01-01T00:00:00.000Z',
  source: 'agent',
  action,
  args: {},
  message: '',
  ...more,
});
const call = (seq: number, step: number): Event =>
  event(seq, 'terminal.run', { id: `c${step}`, args: { command: `echo ${step} >>steps.txt` } });
const result = (seq: number, step: number): Event =>
  event(seq, 'result', {
    id: `c${step}`,
    args: { operation: 'terminal.run', ok: true, output: { exitCode: 0 }, seconds: 1, images: [] },
  });
const end = event(5, 'state', { source: 'server', args: { state: 'finished', reason: null } });
const log = [call(1, 1), result(2, 1), call(3, 2), result(4, 2), end];

interface Stored {
  events?: Event[];
  terminal?: string;
  patch?: string;
  state?: string;
}

/** What a witness of this log reports when the server has stored something else. */
async function found(seen: { events?: Event[]; terminal?: string }, stored: Stored = {}) {
  let listener: SessionListener | undefined;
  const viewer = { watch: (_id: string, callbacks: SessionListener) => (listener = callbacks) };
  const witness = new Witness('s', 2, viewer as unknown as LiveConnection);
  listener?.events(seen.events ?? log);
  const bytes = Buffer.from(seen.terminal ?? 'one two');
  void listener?.terminal?.({ terminal: 'main', offset: 0, bytes });
  const sessions = {
    events: async () => stored.events ?? log,
    terminal: async () => Buffer.from(stored.terminal ?? 'one two'),
    patch: async () => Buffer.from(stored.patch ?? '+1\n+2\n'),
    get: async () => ({ state: stored.state ?? 'finished', reason: null, lastSeq: 5 }),
  };
  return witness.faults({ sessions } as unknown as BelayClient);
}

describe('a witness of the faults', () => {
  it('finds nothing when nothing was lost, duplicated or shown wrongly', async () => {
    expect(await found({})).toEqual([]);
  });

  it.each<[string, Parameters<typeof found>, RegExp]>([
    ['a missed event', [{ events: log.filter(({ seq }) => seq !== 2) }], /event 3 came instead/],
    ['a doubled event', [{ events: [log[0]!, ...log] }], /event 1 came instead of 2/],
    ['an event shown wrongly', [{ events: [call(1, 7), ...log.slice(1)] }], /else as event 1/],
    ['lost bytes', [{ terminal: 'one' }], /terminal differs/],
    ['a gap in the log', [{}, { events: [...log.slice(0, 3), end] }], /stored as number 4/],
    ['two results', [{}, { events: [...log, { ...result(6, 1) }] }], /two results/],
    ['a step done twice', [{}, { patch: '+1\n+1\n+2\n' }], /done twice/],
    ['a lost file', [{}, { patch: '+1\n' }], /not in the files: 2/],
    ['a false state', [{}, { state: 'failed' }], /the log says finished/],
  ])('finds %s', async (_what, given, sentence) => {
    expect((await found(...given)).join('\n')).toMatch(sentence);
  });
});
