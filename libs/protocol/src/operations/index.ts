import type { z } from 'zod';
import type { Operation } from '../operation.js';
import { actionsOperations } from './actions.js';
import { browserOperations } from './browser.js';
import { dialogueOperations } from './dialogue.js';
import { filesOperations } from './files.js';
import { reportOperations } from './report.js';
import { sessionOperations } from './session.js';
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
  ...reportOperations,
  ...workspaceOperations,
  ...actionsOperations,
  ...sessionOperations,
};

export type Operations = typeof operations;
export type OperationName = keyof Operations;

/** An operation’s input, with its defaults filled in. */
export type OperationInput<N extends OperationName> = z.output<Operations[N]['input']>;
/** An operation’s input as a caller gives it. */
export type OperationRequest<N extends OperationName> = z.input<Operations[N]['input']>;
export type OperationOutput<N extends OperationName> = z.output<Operations[N]['output']>;

/** The operations that the agent’s loop serves itself. */
export type LoopOperation = {
  [N in OperationName]: Operations[N]['servedBy'] extends 'loop' ? N : never;
}[OperationName];

/** The operations that an agent’s run of a session serves itself. */
export type RunOperation = {
  [N in OperationName]: Operations[N]['servedBy'] extends 'run' ? N : never;
}[OperationName];

export const isOperationName = (name: string): name is OperationName =>
  Object.hasOwn(operations, name);

/** Finds an operation by a name from outside; undefined when there is none. */
export function operationNamed(name: string): Operation | undefined {
  return isOperationName(name) ? operations[name] : undefined;
}
