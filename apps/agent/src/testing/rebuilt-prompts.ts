import { isEvent, type Event, type Message } from '@belay/protocol';
import { foldConversation, sandboxOf } from '../loop/conversation-log.js';
import { isOwn } from '../loop/counted.js';
import { prompt } from '../loop/prompt.js';

/** The prompts that led to each reply in a log, rebuilt from the log alone. */
export const rebuiltPrompts = (log: readonly Event[]): Message[][] =>
  log
    .filter((event) => isEvent(event, 'say'))
    .flatMap(({ args: { seen, notice } }) => {
      if (!seen) return [];
      const known = log.filter((event) => event.seq <= (isOwn(event) ? seen.own : seen.others));
      return [prompt({ ...foldConversation(known), sandbox: sandboxOf(log) }, notice)];
    });
