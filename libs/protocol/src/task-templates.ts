import { z } from 'zod';
import { checkCommand } from './check.js';
import { modelName } from './models.js';
import { sessionDefaultsChange, sessionSettings } from './session.js';
import { visibleLine } from './visible-text.js';

/** One line of visible text. */
export const templateName = visibleLine(
  z.string().trim().min(1).max(60),
  'a name is one line of visible text',
);

/** A task that is started often, with the settings of its sessions; omitted settings are those of the server. */
export const taskTemplate = sessionDefaultsChange.extend({
  task: sessionSettings.shape.task,
  model: modelName.nullable().default(null),
  check: checkCommand.nullable().default(null),
});
export type TaskTemplate = z.infer<typeof taskTemplate>;

export const savedTemplate = taskTemplate.extend({ name: templateName });
export type SavedTemplate = z.infer<typeof savedTemplate>;
