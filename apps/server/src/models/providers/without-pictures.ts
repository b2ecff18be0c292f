import type { Message } from '@belay/protocol';
import { hasPictures } from './prompt.js';

/** Refusals of pictures by servers of text-only models: OpenAI, vLLM, llama.cpp, DeepSeek, OpenRouter. */
const refusal = /image|multimodal|vision|mmproj/i;

export const refusesPictures = (sentence: string, messages: readonly Message[]): boolean =>
  refusal.test(sentence) && messages.some(hasPictures);

/** Returns the same object for the same message, so that it is converted only once. */
const known = new WeakMap<Message, Message>();

/** The messages for a text-only model. */
export const withoutPictures = (messages: readonly Message[]): Message[] =>
  messages.map((message) => {
    if (!hasPictures(message)) return message;
    const plain = known.get(message) ?? blind(message);
    known.set(message, plain);
    return plain;
  });

function blind(message: Message): Message {
  if (message.role === 'user') {
    return { ...message, text: `${message.text}\n\n[${note}]`.trim(), images: [] };
  }
  if (message.role !== 'tool') return message;
  return {
    ...message,
    results: message.results.map((result) =>
      result.images.length === 0
        ? result
        : { ...result, output: { output: result.output, note }, images: [] },
    ),
  };
}

const note = 'There is a picture here, which this model cannot see.';
