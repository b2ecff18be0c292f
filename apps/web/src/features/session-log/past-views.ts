import type { Event } from '@belay/protocol';
import { emptyView, joinViews, viewOf, type LogView } from './log-view';

/** A view is kept for each section of this many events, so that showing a moment folds fewer. */
const stretch = 1_000;

/** Views of past moments of one log, whose events never change; older ones may be added at its start. */
export class PastViews {
  /** Those up to the end of the first stretch, of the second, and so on. */
  #kept: LogView[] = [];
  #first = 0;

  /** The view of the first `wanted` events, or of all when there are fewer. */
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
