import { Injectable } from '@nestjs/common';
import {
  isCall,
  isEvent,
  ruleMatches,
  subjectOf,
  type Event,
  type NewRule,
  type RulePreview,
  type RuleSubject,
} from '@belay/protocol';
import { assertMay, sees, type Caller } from '../access/caller.js';
import { EventLog } from '../logs/event-log.js';
import { RulesStore } from './rules.store.js';

const maxExamples = 20;
const page = 5_000;

/** Past calls that a rule would match: “this rule would have allowed these 14”. */
@Injectable()
export class RulePreviews {
  constructor(
    private readonly log: EventLog,
    private readonly rules: RulesStore,
  ) {}

  async preview(rule: NewRule, caller: Caller): Promise<RulePreview> {
    if (rule.session !== undefined) assertMay(caller, 'view', rule.session);
    const reach = await this.rules.reach(rule);
    const all = reach ?? (await this.log.summaries()).map(({ id }) => id);
    const sessions = all.filter((session) => sees(caller, session));
    const preview: RulePreview = { matches: 0, examples: [] };
    for (const session of sessions) await this.#addSession(preview, session, rule);
    return preview;
  }

  async #addSession(preview: RulePreview, session: string, rule: NewRule): Promise<void> {
    for (let after = 0; ;) {
      const events = await this.log.read(session, { after, limit: page });
      for (const event of events) {
        const past = pastCall(event);
        if (!past || !ruleMatches(rule, past)) continue;
        preview.matches += 1;
        if (preview.examples.length < maxExamples) {
          preview.examples.push({ session, seq: event.seq, subject: past.subject });
        }
      }
      const last = events.at(-1);
      if (!last) return;
      after = last.seq;
    }
  }
}

function pastCall(event: Event): RuleSubject | undefined {
  if (isEvent(event, 'egress')) {
    return { operation: 'egress', subject: `${event.args.host}:${event.args.port}` };
  }
  if (!isCall(event.action)) return undefined;
  return { operation: event.action, subject: subjectOf(event.action, event.args) };
}
