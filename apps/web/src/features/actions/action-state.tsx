import { neededSecrets, pluralText, type InstalledAction } from '@belay/protocol';

/** Whether new sessions can use the action, in a few words. */
export function ActionState({ action }: { action: InstalledAction }) {
  const { enabled, state } = action;
  const missing = neededSecrets(action).length;
  const [text, look] = !enabled
    ? ['off', 'text-faint']
    : missing > 0
      ? [`${pluralText(missing, 'secret')} not set`, 'text-muted']
      : state === 'failed'
        ? ['not connected', 'text-fail']
        : ['on', 'text-pass'];
  return <span className={`shrink-0 text-sm ${look}`}>{text}</span>;
}
