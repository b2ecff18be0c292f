import {
  dateTimeText,
  dollarsText,
  isForgeTrigger,
  type AutomationDefinition,
  type AutomationInfo,
  type AutomationRun,
  type RunState,
} from '@belay/protocol';

/** What begins an automation, in a few words. */
export function triggerSummary(on: AutomationDefinition['on']): string {
  if (isForgeTrigger(on)) {
    const events = [on.event].flat().join(', ');
    const label = on.label === undefined ? '' : ` ${on.label}`;
    const command = on.command === undefined ? '' : ` /belay ${on.command}`;
    return `${events}${label}${command} in ${on.host}/${on.repository}`;
  }
  if ('schedule' in on) return `${on.schedule} (${on.zone})`;
  if ('url' in on) return 'its URL';
  if ('session' in on)
    return `the end of ${on.session.automation ?? on.session.tag ?? 'a session'}`;
  return 'a user';
}

/** Each run as one character, the newest last. */
export const runMarks = (latest: readonly AutomationRun[]): string =>
  latest.map(runMark).toReversed().join('');

/** ✓ came to something, · came to nothing, – was not begun, ✗ failed, … goes on. */
export function runMark({ state, code }: Pick<AutomationRun, 'state' | 'code'>): string {
  if (state === 'done') return code === 'nothing' || code === 'stuck' ? '·' : '✓';
  return marks[state] ?? '…';
}

const marks: Partial<Record<RunState, string>> = {
  failed: '✗',
  refused: '–',
  skipped: '–',
  cancelled: '–',
};

/** The state, with what came of it: `done, published`. */
export const runStateWords = ({ state, code }: Pick<AutomationRun, 'state' | 'code'>): string =>
  code === null || code === state ? state : `${state}, ${code}`;

export const moneyWords = ({
  dollarsThisMonth,
  definition,
}: Pick<AutomationInfo, 'dollarsThisMonth' | 'definition'>): string =>
  `${dollarsText(dollarsThisMonth)} of ${dollarsText(definition.lane.dollarsPerMonth)}`;

/** What waits, or when it runs next. */
export function nextWords(
  automation: Pick<AutomationInfo, 'waiting' | 'nextAt' | 'state'>,
): string {
  if (automation.waiting > 0) return `${automation.waiting} waiting`;
  const time = nextTimeOf(automation);
  return time === '' ? '' : `next ${time}`;
}

/** When it runs next; empty without a schedule and while it is not on. */
export const nextTimeOf = ({ nextAt, state }: Pick<AutomationInfo, 'nextAt' | 'state'>): string =>
  nextAt === null || state !== 'on' ? '' : dateTimeText(nextAt);
