import { isEnded, isFact, type Event } from '@belay/protocol';
import type { EventLog } from '../sessions/event-log.js';

const pageSize = 1_000;

/** Seconds that a session has run: wall time since its start, without the time between an end and the next beginning. */
export class Stopwatch {
  private seq = 0;
  private ended = 0;
  private since: number | null = null;

  constructor(
    private readonly events: EventLog,
    private readonly session: string,
  ) {}

  /** Reads what the log has gained since the last time. */
  async seconds(): Promise<number> {
    for (;;) {
      const page = await this.events.read(this.session, { after: this.seq, limit: pageSize });
      for (const event of page) this.add(event);
      if (page.length < pageSize) break;
    }
    const running = this.since === null ? 0 : Date.now() - this.since;
    return (this.ended + Math.max(0, running)) / 1000;
  }

  private add(event: Event): void {
    this.seq = event.seq;
    const time = Date.parse(event.time);
    // A fork holds copies of what another session did; its own time begins here.
    if (event.action === 'fork') [this.ended, this.since] = [0, time];
    else if (isFact(event, 'state') && isEnded(event.args.state)) {
      if (this.since !== null) this.ended += time - this.since;
      this.since = null;
    } else if (event.action === 'start' || event.action === 'state') this.since ??= time;
  }
}
