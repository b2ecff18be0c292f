import type { Message, ModelCall } from './models.js';
import { modelCall } from './models.js';
import { ReceivedPrompt, SentPrompt } from './prompt-delta.js';

const user = (text: string): Message => ({ role: 'user', text, images: [] });
const system = (text: string): Message => ({ role: 'system', text });
const asked = (...messages: Message[]) => ({
  purpose: 'turn' as const,
  messages,
  operations: ['ask'],
});

/** Both ends; `calls` are those that went over the wire. */
function ends() {
  const calls: ModelCall[] = [];
  const [sent, received] = [new SentPrompt(), new ReceivedPrompt()];
  const send = (...messages: Message[]) =>
    sent.send(asked(...messages), async (call) => {
      calls.push(call);
      return received.take(modelCall.parse(JSON.parse(JSON.stringify(call)))).messages;
    });
  return { calls, received, send };
}

describe('a prompt that grows', () => {
  const [a, b, c] = [user('a'), user('b'), user('c')];

  it('sends only its new messages, also when the instructions are written anew', async () => {
    const { calls, send } = ends();
    const first = await send(system('Do'), a);
    const second = await send(system('Do'), a, b);
    expect(second).toEqual([system('Do'), a, b]);
    expect(second.slice(0, 2).every((message, index) => message === first[index])).toBe(true);
    expect(calls[1]).toMatchObject({ base: { number: 1, messages: 2 }, messages: [b] });
    expect(await send(system('Do'), a, b)).toEqual([system('Do'), a, b]);
    expect(calls[2]?.messages).toEqual([]);
  });

  it('sends what is different from its first change on', async () => {
    const { calls, send } = ends();
    await send(system('Do'), a, b);
    expect(await send(system('Do'), a, c)).toEqual([system('Do'), a, c]);
    expect(calls[1]?.messages).toEqual([c]);
    expect(await send(system('Other'), a, c)).toEqual([system('Other'), a, c]);
    expect(calls[2]).not.toHaveProperty('base');
    expect(await send(system('Other'))).toEqual([system('Other')]);
  });

  it('sends all of it once when the server has nothing any more', async () => {
    const { calls, received, send } = ends();
    await send(a, b);
    received.forget();
    expect(await send(a, b, c)).toEqual([a, b, c]);
    expect(calls.map(({ messages }) => messages.length)).toEqual([2, 1, 3]);
  });

  it('fails with what the call fails with, which is sent once', async () => {
    let sent = 0;
    const failing = new SentPrompt().send(asked(a), async () => {
      sent++;
      throw new Error('No.');
    });
    await expect(failing).rejects.toThrow('No.');
    expect(sent).toBe(1);
  });
});

describe('a request that builds on another', () => {
  const message = user('a');
  const call = (number: number, base?: ModelCall['base']): ModelCall => ({
    ...asked(message),
    number,
    ...(base && { base }),
  });

  it.each([
    ['more messages than there are', { number: 1, messages: 2 }],
    ['a request before the last one', { number: 0, messages: 1 }],
    ['a request that never was', { number: 7, messages: 1 }],
  ])('is refused in one sentence with %s, and the next whole one is taken', (_, base) => {
    const received = new ReceivedPrompt();
    received.take(call(1));
    expect(() => received.take(call(2, base))).toThrow(
      'The request builds on one that the server does not have; send all of its messages.',
    );
    expect(() => received.take(call(3, { number: 1, messages: 1 }))).toThrow(
      'the server does not have',
    );
    expect(received.take(call(4)).messages).toEqual([message]);
    expect(received.take(call(5, { number: 4, messages: 1 })).messages).toEqual([message, message]);
  });

  it.each([0, -1, 0.5, Number.NaN, '1'])('must name a count of messages, not %p', (messages) => {
    expect(modelCall.safeParse(call(2, { number: 1, messages: 1 })).success).toBe(true);
    expect(modelCall.safeParse({ ...call(2), base: { number: 1, messages } }).success).toBe(false);
  });

  it('adds up to no more than one request may hold', () => {
    const size = JSON.stringify(message).length;
    const received = new ReceivedPrompt(3 * size);
    received.take(call(1));
    received.take(call(2, { number: 1, messages: 1 }));
    received.take(call(3, { number: 2, messages: 2 }));
    expect(() => received.take(call(4, { number: 3, messages: 3 }))).toThrow(/exceeds the limit/);
    expect(received.take(call(5)).messages).toEqual([message]);
  });
});
