import { Injectable } from '@nestjs/common';
import { callOf, isEvent, resultOf, type RunReport } from '@belay/protocol';
import { EventLog } from '../../logs/event-log.js';

const mostSummary = 4_000;

/** What agents handed in, as it is in their logs: text that an agent wrote, which proves nothing. */
@Injectable()
export class RunReports {
  constructor(private readonly log: EventLog) {}

  /**
   * The newest report that was recorded; of an agent that handed none in, its last words as the summary. Null if it said
   * nothing at all.
   */
  async reportOf(session: string): Promise<RunReport | null> {
    const events = await this.log.read(session, { after: 0 });
    const done = new Set(
      events.filter((event) => resultOf(event, 'report')).map((event) => event.id),
    );
    const calls = events.flatMap((event) => callOf(event, 'report') ?? []);
    const call = calls.findLast(({ id, source }) => source === 'agent' && done.has(id));
    if (call) return call.args;
    const said = events.flatMap((event) => {
      const text =
        callOf(event, 'finish')?.args.summary || (isEvent(event, 'say') ? event.args.text : '');
      return text.trim() === '' ? [] : [text.trim()];
    });
    const summary = said.at(-1)?.slice(0, mostSummary).toWellFormed();
    return summary === undefined ? null : { summary, comments: [], replies: [] };
  }
}
