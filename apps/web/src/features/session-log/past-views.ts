import type { Event } from '@belay/protocol';
import { emptyView, joinViews, viewOf, type LogView } from './log-view';

/** A view is cached after every this many events, so that showing a moment folds only a few. */
const stretch = 1_000;

/** Cached views of past moments of a log. Adding older events at its start clears the cache. */
export class PastViews {
  /** Views up to the end of the first stretch, the second, and so on. */
  #kept: LogView[] = [];
  #first = 0;

  /** The view of the first `wanted` events, or of all if there are fewer. */
  of(events: readonly Event[], wanted: number): LogView {
    const count = Math.min(wanted, events.length);
    const first = events[0]?.seq ?? 0;
    if (first !== this.#first) this.#kept = [];
    this.#first = first;
    const whole = Math.floor(count / stretch);
    while (this.#kept.length < whole) {
      const from = this.#kept.length * stretch;
      const before = this.#kept.at(-1) ?? emptyView;
      this.#kept.push(joinViews(before, viewOf(events.slice(from, from + stretch))));
    }
    const last = this.#kept[whole - 1] ?? emptyView;
    return joinViews(last, viewOf(events.slice(whole * stretch, count)));
  }
}
