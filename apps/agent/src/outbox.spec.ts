import { AppError, type AgentEvent, type NewEvent } from '@belay/protocol';
import { Outbox } from './outbox.js';

const event = (message: string): NewEvent => ({
  source: 'agent',
  action: 'think',
  args: {},
  message,
});

describe('the outbox', () => {
  const sent: string[][] = [];
  const stored: [string, number][] = [];
  let refusal: AppError | undefined;
  let fail: ((events: AgentEvent[]) => AppError | undefined) | undefined;
  let outbox: Outbox;
  let storedN: number;
  beforeEach(() => {
    storedN = 0;
    sent.length = 0;
    stored.length = 0;
    refusal = undefined;
    fail = undefined;
    outbox = new Outbox({
      send: async (events) => {
        sent.push(events.map(({ message }) => message));
        const error = fail?.(events);
        if (error) throw error;
        // Like the server, which takes a gap for the loss of events.
        for (const { n } of events) expect(n).toBe(++storedN);
        return events.map(({ n }) => n * 10);
      },
      stored: ({ message }, seq) => void stored.push([message, seq]),
      refused: (error) => (refusal = error),
    });
  });

  it('sends in order, what came at once together, and resolves when all is stored', async () => {
    for (const word of ['a', 'b', 'c']) outbox.append(event(word));
    await outbox.flush();
    outbox.append(event('d'));
    await outbox.flush();
    expect(sent).toEqual([['a', 'b', 'c'], ['d']]);
    expect(stored).toEqual([
      ['a', 10],
      ['b', 20],
      ['c', 30],
      ['d', 40],
    ]);
    await outbox.flush();
  });

  it('sends the same again after a failure, until it is stored', async () => {
    let failures = 1;
    fail = () => (failures-- > 0 ? new AppError('disk_full', 'The disk is full.') : undefined);
    outbox.append(event('a'));
    await outbox.flush();
    expect(sent).toEqual([['a'], ['a']]);
    expect(stored).toEqual([['a', 10]]);
  });

  it.each(['invalid_input', 'too_large'] as const)(
    'leaves out one event that the server cannot take (%s), not those around it',
    async (code) => {
      fail = (events) =>
        events.some(({ message }) => message === 'bad')
          ? new AppError(code, 'This is broken.')
          : undefined;
      for (const word of ['a', 'bad', 'c']) outbox.append(event(word));
      await outbox.flush();
      outbox.append(event('d'));
      await outbox.flush();
      expect(stored.map(([word]) => word)).toEqual(['a', 'c', 'd']);
      expect(refusal).toBeUndefined();
    },
  );

  it('gives up when a newer agent has the session', async () => {
    fail = () => new AppError('conflict', 'Another sandbox works on this session now.');
    outbox.append(event('a'));
    await expect(outbox.flush()).rejects.toMatchObject({ code: 'conflict' });
    expect(refusal).toMatchObject({ code: 'conflict' });
    outbox.append(event('b'));
    await expect(outbox.flush()).rejects.toMatchObject({ code: 'conflict' });
    expect(sent).toEqual([['a']]);
  });

  it('sends a flood in batches', async () => {
    for (let index = 0; index < 1_000; index++) outbox.append(event(String(index)));
    await outbox.flush();
    expect(sent.length).toBeGreaterThan(4);
    expect(stored.map(([word]) => word)).toEqual(
      Array.from({ length: 1_000 }, (_, n) => String(n)),
    );
  });
});
