import type { Operation } from '../operation.js';
import { browserOperations } from './browser.js';
import { dialogueOperations } from './dialogue.js';
import { filesOperations } from './files.js';
import { systemOperations } from './system.js';
import { terminalOperations } from './terminal.js';
import { webOperations } from './web.js';
import { workspaceOperations } from './workspace.js';

/** Every operation by its name. */
export const operations = {
  ...terminalOperations,
  ...filesOperations,
  ...browserOperations,
  ...webOperations,
  ...systemOperations,
  ...dialogueOperations,
  ...workspaceOperations,
};

export type OperationName = keyof typeof operations;

/** Finds an operation by a name from outside; undefined when there is none. */
export function operationNamed(name: string): Operation | undefined {
  return Object.hasOwn(operations, name) ? operations[name as OperationName] : undefined;
}
