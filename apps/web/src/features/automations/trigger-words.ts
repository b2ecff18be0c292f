import {
  isForgeTrigger,
  scheduleWords,
  type AutomationRun,
  type AutomationTrigger,
} from '@belay/protocol';

/** What begins an automation, in a few words. */
export function triggerWords(on: AutomationTrigger): string {
  if (isForgeTrigger(on)) {
    const { event, label, command } = on;
    const happens = [event].flat().map((each) => forgeEventWords[each]({ label, command }));
    return `When ${happens.join(' or ')}, in ${on.repository}`;
  }
  if ('schedule' in on) {
    const words = scheduleWords(on.schedule, on.zone) ?? `times: ${on.schedule} (${on.zone})`;
    return capitalized(words);
  }
  if ('url' in on) return 'On a request to its URL';
  if ('session' in on) {
    const { automation, tag, state } = on.session;
    const which = automation ? ` of ${automation}` : tag ? ` tagged ${tag}` : '';
    return `After a session${which} that is ${state.join(' or ')}`;
  }
  return 'Only by hand';
}

export const capitalized = (words: string): string =>
  words.charAt(0).toUpperCase() + words.slice(1);

type ForgeOn = Extract<AutomationTrigger, { host: string }>;
type ForgeEventName = Exclude<ForgeOn['event'], readonly unknown[]>;
type EventWords = (on: Pick<ForgeOn, 'label' | 'command'>) => string;

const labelled = (label?: string): string =>
  label === undefined ? 'is labelled' : `gets the label “${label}”`;
const commandWords = (command?: string): string =>
  command === undefined ? 'a command' : `/belay ${command}`;

const forgeEventWords: Readonly<Record<ForgeEventName, EventWords>> = {
  'issue.opened': () => 'an issue is opened',
  'issue.labelled': ({ label }) => `an issue ${labelled(label)}`,
  'issue.assigned': () => 'an issue is assigned',
  'issue.command': ({ command }) => `${commandWords(command)} is written on an issue`,
  'pull.opened': () => 'a pull request is opened',
  'pull.updated': () => 'a pull request gets new commits',
  'pull.labelled': ({ label }) => `a pull request ${labelled(label)}`,
  'pull.reviewed': () => 'a pull request is reviewed',
  'pull.commented': () => 'a pull request gets a comment',
  'pull.command': ({ command }) => `${commandWords(command)} is written on a pull request`,
  'checks.failed': () => 'checks fail',
  'checks.passed': () => 'checks pass',
  push: () => 'commits are pushed',
  'release.published': () => 'a release is published',
};

/** What needs no git host, as the title of a run or a delivery. */
const ownEventTitles: Readonly<Record<string, string>> = {
  schedule: 'Its time came',
  url: 'Request to its URL',
  'session.ended': 'End of a session',
  hand: 'By hand',
};

export const isOwnEvent = (event: string): boolean => Object.hasOwn(ownEventTitles, event);

/** The title of an event; events of a git host keep the names that definitions have. */
export const eventTitle = (event: string): string =>
  isOwnEvent(event) ? (ownEventTitles[event] ?? event) : event;

/** What a run is about, such as `#12`, or else what began it. */
export const runTitle = ({ subject, event }: Pick<AutomationRun, 'subject' | 'event'>): string =>
  subject === event ? eventTitle(event) : subject;
