import type { Message } from '@belay/protocol';
import { withNote } from './with-note.js';

/** Anthropic refuses large pictures in requests with more than 20, and every provider charges for each one again. */
const most = 20;
/** The number dropped at once, so that the start of the prompt stays the same, and cached, in between. */
const atOnce = 10;

/** Leaves out the oldest pictures in results when there are many; those of the user stay. */
export function withoutOldPictures(messages: Message[]): Message[] {
  const byUser = messages.reduce(
    (sum, message) => sum + (message.role === 'user' ? message.images.length : 0),
    0,
  );
  let surplus = Math.ceil((picturesIn(messages) + byUser - most) / atOnce) * atOnce;
  if (surplus <= 0) return messages;
  return messages.map((message) => {
    const pictures = picturesIn([message]);
    if (message.role !== 'tool' || surplus <= 0 || pictures === 0) return message;
    const fewer = surplus < pictures ? withoutFirst(message, surplus) : withoutAny(message);
    surplus -= pictures;
    return fewer;
  });
}

type Results = Extract<Message, { role: 'tool' }>;
/** Returns the same object for the same message, so that it is not sent again. */
const known = new WeakMap<Results, Results>();

function withoutAny(message: Results): Results {
  const before = known.get(message);
  if (before) return before;
  const fewer = withoutFirst(message, Number.POSITIVE_INFINITY);
  known.set(message, fewer);
  return fewer;
}

function withoutFirst({ results }: Results, count: number): Results {
  let left = count;
  return {
    role: 'tool',
    results: results.map((result) => {
      if (result.images.length === 0 || left <= 0) return result;
      left -= result.images.length;
      return { ...result, output: withNote(result.output, note), images: [] };
    }),
  };
}

const note = 'This old picture was left out to save space; take a new one if you need it.';

const picturesIn = (messages: readonly Message[]): number =>
  messages
    .flatMap((message) => (message.role === 'tool' ? message.results : []))
    .reduce((sum, { images }) => sum + images.length, 0);
