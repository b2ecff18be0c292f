import { z } from 'zod';
import { automationDefinition } from './automation-definition.js';

/** For editors, in the draft that all of them support; also in `docs/automation.schema.json`. */
export const automationSchema = (): Record<string, unknown> => ({
  title: 'An automation of Belay',
  ...z.toJSONSchema(automationDefinition, { io: 'input', target: 'draft-7' }),
});
