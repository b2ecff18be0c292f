import type { Event } from '@belay/protocol';
import type { EventLog } from '../../logs/event-log.js';
import type { AgentConnection } from './agent-link.js';
import { Backlog } from './backlog.js';

const event = (seq: number, source: Event['source'] = 'user'): Event => ({
  seq,
  source,
  time: new Date(0).toISOString(),
  action: 'message',
  args: {},
  message: '',
});

/** A log whose reading can be held up, for what is written meanwhile. */
function slowLog(stored: Event[]) {
  const listeners = new Set<(events: Event[]) => void>();
  const read = Promise.withResolvers<Event[]>();
  const log = {
    subscribe: (_session: string, listener: (events: Event[]) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    read: () => read.promise,
  } as unknown as EventLog;
  const write = (...events: Event[]): void => listeners.forEach((listener) => listener(events));
  return { log, write, listeners, answer: () => read.resolve(stored) };
}

describe('a backlog', () => {
  it('has each event of others once, whenever it was written', async () => {
    const { log, write, listeners, answer } = slowLog([event(4), event(5, 'agent'), event(6)]);
    const opening = Backlog.open(log, 's', 3);
    write(event(6));
    write(event(7, 'agent'), event(8));
    answer();
    const backlog = await opening;
    expect(backlog.take().map(({ seq }) => seq)).toEqual([4, 6, 8]);
    write(event(9));
    const sent: unknown[] = [];
    const connection = {
      call: async (name: string, input: unknown) => void sent.push([name, input]),
    } as unknown as AgentConnection;
    backlog.handOver(connection);
    expect(sent).toEqual([['session.events', { events: [event(9)] }]]);
    expect(listeners.size).toBe(0);
  });
});
