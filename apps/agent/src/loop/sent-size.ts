import { resultText, type Message } from '@belay/protocol';

/** A rough estimate for all models, until one has told the size of a prompt. */
export const usualCharactersPerToken = 4;
/** A picture of usual size takes about a thousand tokens. */
const charactersOfPicture = 4_000;

/** The size of messages in the form in which a model gets them, in characters. */
export const sentSize = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + sizeOf(message), 0);

/** Messages of a growing prompt are the same objects, so each is measured once. */
const known = new WeakMap<Message, number>();

function sizeOf(message: Message): number {
  const before = known.get(message);
  if (before !== undefined) return before;
  const size = newSizeOf(message);
  known.set(message, size);
  return size;
}

function newSizeOf(message: Message): number {
  if (message.role === 'system') return message.text.length;
  if (message.role === 'user') return message.text.length + pictures(message.images);
  if (message.role === 'tool') {
    return message.results.reduce(
      (sum, result) => sum + resultText(result).length + pictures(result.images),
      0,
    );
  }
  const { text, reasoning = '', calls } = message;
  const written = calls.reduce((sum, { input }) => sum + JSON.stringify(input ?? {}).length, 0);
  return text.length + reasoning.length + written;
}

const pictures = (images: readonly string[]): number => images.length * charactersOfPicture;
