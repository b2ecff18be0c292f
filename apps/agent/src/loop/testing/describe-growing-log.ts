import { ReceivedPrompt, SentPrompt, type Event, type ModelRequest } from '@belay/protocol';
import { ConversationLog, foldConversation } from '../conversation-log.js';
import { matters } from '../counted.js';
import { prompt } from '../prompt.js';
import { anyLog, choices, shuffled } from './any-log.js';

/** Asserts after every event that the conversation is that of a fold of all events so far; returns how many there were. */
export function expectEqualAfterEach(ordered: readonly Event[]): number {
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

/** The conversations of logs that may never happen, one for each seed. */
export function describeGrowingLogs(seeds: readonly number[]): void {
  describe('the conversation of a growing log', () => {
    it('equals a fold of the whole log after every event of logs that may never happen', () => {
      for (const seed of seeds) {
        const log = anyLog(seed, 60);
        expectEqualAfterEach(log);
        expectEqualAfterEach(shuffled(log, seed));
      }
    });

    it('reaches the server whole, though each request sends only what is new', async () => {
      for (const seed of seeds) {
        const { below } = choices(seed);
        const sessions = [seed, seed + 100].map((each) => ({
          events: shuffled(anyLog(each, 60), each).filter(matters),
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
}

const overWire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
