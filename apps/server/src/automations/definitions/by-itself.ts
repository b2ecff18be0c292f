import type { ApiName } from '@belay/protocol';
import { automationCallerPrefix } from '../../access/assert-may-change-automations.js';
import type { SavedAutomation } from './saved-automation.js';

/** An automation as the one who does something, under the same id as when it begins sessions. */
export const byItself = ({ id, name }: Pick<SavedAutomation, 'id' | 'name'>) => ({
  api: 'automation' as const satisfies ApiName,
  caller: { id: `${automationCallerPrefix}${id}`, label: name },
});
