import type { Message } from '@belay/protocol';
import { withNote } from './with-note.js';

/** Anthropic refuses large pictures when there are more than 20, and any provider bills each again and again. */
const most = 20;
/** So many go at once: the beginning of the prompt stays the same in between, and cached. */
const atOnce = 10;

/** Leaves the oldest pictures of results out when there are many; those of the person stay. */
export function withoutOldPictures(messages: Message[]): Message[] {
  let surplus = Math.ceil((picturesIn(messages) - most) / atOnce) * atOnce;
  if (surplus <= 0) return messages;
  return messages.map((message) => {
    if (message.role !== 'tool') return message;
    const results = message.results.map((result) => {
      if (result.images.length === 0 || surplus <= 0) return result;
      surplus -= result.images.length;
      return { ...result, output: withNote(result.output, note), images: [] };
    });
    return { role: 'tool', results };
  });
}

const note = 'This old picture was left out to save room; take a new one if you need it.';

const picturesIn = (messages: readonly Message[]): number =>
  messages
    .flatMap((message) => (message.role === 'tool' ? message.results : []))
    .reduce((sum, { images }) => sum + images.length, 0);
