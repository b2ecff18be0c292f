import type { AutomationInfo } from '@belay/protocol';

const words = { on: 'on', paused: 'paused', broken: 'paused itself' } as const;
const colours = { on: 'text-pass', paused: 'text-muted', broken: 'text-fail' } as const;

/** Whether an automation is on; the page of one says why not. */
export const AutomationState = ({ state }: Pick<AutomationInfo, 'state'>) => (
  <span className={`shrink-0 text-sm font-normal ${colours[state]}`}>{words[state]}</span>
);

/** A pause by a user is not a fault. */
export const whyColours = { on: 'text-muted', paused: 'text-muted', broken: 'text-fail' } as const;
