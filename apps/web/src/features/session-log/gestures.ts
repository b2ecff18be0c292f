import { callOf, type Event } from '@belay/protocol';

/** Consecutive actions of the user in the agent’s browser. */
export interface Gestures {
  clicks: number;
  scrolls: number;
  /** The typed text, with named keys in angle brackets. */
  typed: string;
  /** The ids of the calls, for looking up failures. */
  calls: readonly string[];
}

/** Null unless the event is a click, typing or a scroll by the user. */
export function gesturesOf(event: Event): Gestures | null {
  if (event.source !== 'user') return null;
  const calls = event.id === undefined ? [] : [event.id];
  const none = { clicks: 0, scrolls: 0, typed: '', calls };
  if (callOf(event, 'browser.click')) return { ...none, clicks: 1 };
  if (callOf(event, 'browser.scroll')) return { ...none, scrolls: 1 };
  const typing = callOf(event, 'browser.type');
  if (!typing) return null;
  const { text, key } = typing.args;
  return { ...none, typed: key === undefined ? text : `${text}<${key}>` };
}

export const joinGestures = (earlier: Gestures, later: Gestures): Gestures => ({
  clicks: earlier.clicks + later.clicks,
  scrolls: earlier.scrolls + later.scrolls,
  typed: earlier.typed + later.typed,
  calls: [...earlier.calls, ...later.calls],
});
