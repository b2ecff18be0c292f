import type { AuditLog } from '../access/audit-log.js';
import { byItself } from './definitions/by-itself.js';
import type { RunRecord } from './run-record.js';

interface Act {
  /** As for a user who does the same, or `automations.` and the kind of what is sent. */
  action: string;
  what: string;
  /** `ok`, or the code of the error. */
  outcome?: string;
}

/** Adds what a run did by itself to the audit log: which run it was, and what happened that began it. */
export function recordAct(
  audit: AuditLog,
  run: RunRecord,
  { action, what, outcome = 'ok' }: Act,
): void {
  const { id, automation, session } = run;
  const subject = `${id} (${causeOf(run)}): ${what}`;
  audit.record({
    ...byItself(automation),
    action,
    outcome,
    subject,
    ...(session !== null && { session }),
  });
}

/** Of names that others chose, so much that what was done has its place as well. */
const maxName = 60;

function causeOf({ occurrence, findings, subject, decisions }: RunRecord): string {
  const { event } = occurrence;
  const byHand = decisions.find(({ check }) => check === 'hand')?.why.replace(/[.]$/, '');
  const actor = findings.actor ?? occurrence.actor;
  const who = actor && `by ${actor.name.slice(0, maxName)} (${actor.id.slice(0, maxName)})`;
  const about = subject === event ? '' : ` ${subject.slice(0, maxName)}`;
  const told = [`${event}${about}`, who, byHand?.slice(0, maxName)];
  return told.filter((part) => part !== null && part !== undefined).join(', ');
}
