import { forgeEvent, isForgeTrigger, type AutomationTrigger } from '@belay/protocol';
import { notWanted, sameKind } from '../triggers/forge-questions.js';

/** Whether a row says that no automation begins with what else an act was, such as opening the issue that it labels. */
export function isBesideTrigger(on: AutomationTrigger, why: string | null): boolean {
  const own = new Set(isForgeTrigger(on) ? [on.event].flat().flatMap(sameKind) : []);
  return forgeEvent.options.some((event) => !own.has(event) && why === notWanted(event));
}
