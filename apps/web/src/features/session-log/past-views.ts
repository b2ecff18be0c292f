import type { Event } from '@belay/protocol';
import { emptyView, joinViews, viewOf, type LogView } from './log-view';

/** A view is kept for each so many events: to look at a moment folds fewer than this. */
const stretch = 1_000;

/** The views of the past of one log. Its events do not change; only older ones come to its beginning. */
export class PastViews {
  /** Those up to the end of the first stretch, of the second, and so on. */
  #kept: LogView[] = [];
  #first = 0;

  /** What the first so many of the events show; there may be fewer. */
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
