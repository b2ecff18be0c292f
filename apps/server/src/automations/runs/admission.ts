import { durationText, pluralText, spanMs } from '@belay/protocol';
import { overMonth } from './money.js';
import type { RunDecision, RunRecord } from '../run-record.js';

/** What is known when a run is to begin, all of one moment. */
export interface AdmissionInput {
  now: Date;
  lane: {
    running: string | null;
    attempts: number;
    lastStart: string | null;
    stuck: string | null;
  };
  /** Runs of its lane that wait before it. */
  ahead: number;
  /** Runs of its automation that began in the last hour and day. */
  lastHour: number;
  lastDay: number;
  /** Runs about its issue or pull request that began in the last day, of all automations. */
  subjectDay: number;
  /** Millionths of a dollar that its automation has spent and reserved in this month. */
  month: number;
  /** Runs of all automations that have a session, and how many may. */
  working: number;
  capacity: number;
}

export interface LaneAdmission {
  decisions: RunDecision[];
  /** `wait` without a time ends when another run does. */
  verdict:
    | { kind: 'begin' }
    | { kind: 'skip'; code: string; why: string }
    | { kind: 'wait'; until: Date | null; why: string };
}

/** Of one issue or pull request, over all automations: two that answer each other end here. */
export const mostOfSubjectPerDay = 10;

type Answer = string | { skip: string; code?: string } | { wait: string; until: Date | null };
type Check = (run: RunRecord, input: AdmissionInput) => Answer;

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** In the order in which they are made; the name of each is its code. A sentence means that it holds. */
const checks: readonly (readonly [code: string, check: Check])[] = [
  ['late', lateness],
  [
    'stuck',
    ({ lane: key }, { lane: { stuck } }) =>
      stuck === null ? 'It is not stuck.' : { skip: `The lane ${key} needs a user. ${stuck}` },
  ],
  ['attempts', attempts],
  ['cooldown', cooldown],
  ['per-hour', ({ definition: { lane } }, { lastHour }) => within('hour', lastHour, lane.perHour)],
  ['per-day', ({ definition: { lane } }, { lastDay }) => within('day', lastDay, lane.perDay)],
  ['subject-per-day', subjectPerDay],
  [
    'month',
    ({ definition }, { month }) => {
      const over = overMonth(definition, month);
      return over === undefined ? 'It has money left this month.' : { skip: over };
    },
  ],
  ['busy', busy],
  [
    'capacity',
    (_, { working, capacity }) =>
      working < capacity
        ? 'There is capacity.'
        : {
            wait: `${pluralText(working, 'run is', 'runs are')} at work, as many as this server begins at once.`,
            until: null,
          },
  ],
];

export const admissionChecks: ReadonlySet<string> = new Set(checks.map(([code]) => code));

/** Whether a run may begin now, later or not at all. What is only for later does not hide what decides against it. */
export function admissionOf(run: RunRecord, input: AdmissionInput): LaneAdmission {
  const decisions: RunDecision[] = [];
  let verdict: LaneAdmission['verdict'] = { kind: 'begin' };
  for (const [check, answerTo] of checks) {
    const answer = answerTo(run, input);
    if (typeof answer === 'string') {
      decisions.push({ check, holds: true, why: answer });
    } else if ('skip' in answer) {
      const { skip: why, code = check } = answer;
      decisions.push({ check, holds: false, why });
      return { decisions, verdict: { kind: 'skip', code, why } };
    } else {
      const { wait: why, until } = answer;
      decisions.push({ check, holds: false, why });
      if (verdict.kind === 'begin') verdict = { kind: 'wait', until, why };
    }
  }
  return { decisions, verdict };
}

/** Only a schedule has a time that can be missed. */
function lateness(
  { definition: { on }, occurrence, state }: RunRecord,
  { now }: AdmissionInput,
): Answer {
  const lateMs = now.getTime() - Date.parse(occurrence.at);
  if (!('schedule' in on) || occurrence.event !== 'schedule' || state !== 'pending')
    return 'It has no set time.';
  if (lateMs <= spanMs(on.late)) return 'It is on time.';
  return { skip: `It is ${durationText(lateMs / 1_000)} late, and may be ${on.late}.` };
}

function attempts(
  { definition: { lane }, lane: key }: RunRecord,
  { lane: { attempts: made } }: AdmissionInput,
): Answer {
  if (made < lane.attempts) return `It is attempt ${made + 1} of ${lane.attempts}.`;
  return { skip: `The lane ${key} has had ${pluralText(made, 'attempt')}: reset it to go on.` };
}

function cooldown(
  { definition: { lane } }: RunRecord,
  { now, lane: { lastStart } }: AdmissionInput,
): Answer {
  const until = lastStart === null ? now : new Date(Date.parse(lastStart) + spanMs(lane.cooldown));
  if (until <= now) return 'The time between two runs has passed.';
  const why = `The last run of its lane began less than ${lane.cooldown} ago.`;
  return lane.busy === 'skip' ? { skip: why } : { wait: why, until };
}

function within(span: string, made: number, most: number): Answer {
  if (made < most) return `It is run ${made + 1} of ${most} in this ${span}.`;
  return { skip: `${pluralText(made, 'run')} began in the last ${span}, and ${most} may.` };
}

function subjectPerDay({ subject }: RunRecord, { subjectDay }: AdmissionInput): Answer {
  if (subjectDay < mostOfSubjectPerDay)
    return `It is run ${subjectDay + 1} of ${mostOfSubjectPerDay} about the same in this day.`;
  return {
    skip: `${pluralText(subjectDay, 'run')} about ${subject} began in the last day, of all automations together: that looks like a loop.`,
  };
}

function busy(
  { definition: { lane } }: RunRecord,
  { lane: { running }, ahead }: AdmissionInput,
): Answer {
  if (running === null && ahead === 0) return 'Its lane is free.';
  const taken =
    running === null
      ? 'Another run of its lane waits'
      : `The run ${running} of its lane is at work`;
  if (lane.busy === 'skip') return { skip: `${taken}.` };
  if (ahead >= lane.queued)
    return { skip: `${pluralText(ahead, 'run')} of its lane wait already.`, code: 'queue-full' };
  return { wait: `${taken}: it begins afterwards.`, until: null };
}
