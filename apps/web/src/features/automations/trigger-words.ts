import { isForgeTrigger, scheduleWords, type AutomationTrigger } from '@belay/protocol';

/** What begins an automation, in a few words. */
export function triggerWords(on: AutomationTrigger): string {
  if (isForgeTrigger(on)) {
    const events = [on.event].flat().join(', ');
    const detail = [on.label && `“${on.label}”`, on.command && `/belay ${on.command}`]
      .filter(Boolean)
      .join(' ');
    return `On ${events}${detail && ` ${detail}`} in ${on.repository}`;
  }
  if ('schedule' in on) {
    const words = scheduleWords(on.schedule, on.zone) ?? `times: ${on.schedule} (${on.zone})`;
    return words.charAt(0).toUpperCase() + words.slice(1);
  }
  if ('url' in on) return 'On a request to its URL';
  if ('session' in on) {
    const { automation, tag, state } = on.session;
    const which = automation ? ` of ${automation}` : tag ? ` tagged ${tag}` : '';
    return `After a session${which} that is ${state.join(' or ')}`;
  }
  return 'Only by hand';
}
