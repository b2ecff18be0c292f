import type { Event } from '@belay/protocol';

/**
 * One event for two that follow each other when a person went on typing into the agent’s browser, or
 * scrolling it; null when they are two things. Keeps the number of the first and the call of the last.
 */
export function repeatedAct(earlier: Event, later: Event): Event | null {
  if (later.source !== 'user' || earlier.source !== 'user') return null;
  if (later.action !== earlier.action || later.args['element'] || earlier.args['element'])
    return null;
  const args = joinArgs(later.action, earlier.args, later.args);
  return args && { ...later, seq: earlier.seq, args };
}

type Args = Event['args'];

function joinArgs(action: string, earlier: Args, later: Args): Args | null {
  if (action === 'browser.type') return { text: typed(earlier) + typed(later) };
  if (action === 'browser.scroll')
    return { y: Number(earlier['y'] ?? 0) + Number(later['y'] ?? 0) };
  return null;
}

/** Letters as they are, named keys in brackets. */
const typed = ({ text, key }: Args): string =>
  typeof key === 'string' ? `<${key}>` : typeof text === 'string' ? text : '';
