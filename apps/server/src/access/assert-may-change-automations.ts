import { AppError } from '@belay/protocol';
import { assertMay, isModelRequest, seesAll, userOf, type Caller } from './caller.js';

/** The beginning of the id of a caller with which an automation begins its sessions. */
export const automationCallerPrefix = 'automation:';

/**
 * Throws `forbidden` unless the caller may change automations, or begin and cancel their runs: an admin who sees
 * everything, not over an API whose requests a model writes, and nothing that an automation began. Otherwise a text that a
 * run reads could have it give itself more.
 */
export function assertMayChangeAutomations(caller: Caller): void {
  assertMay(caller, 'admin');
  const acts = [caller.id, userOf(caller)].some((id) => id.startsWith(automationCallerPrefix));
  if (!acts && seesAll(caller) && !isModelRequest(caller)) return;
  throw new AppError(
    'forbidden',
    'Only an admin may change automations: nothing that an automation began, no token for some sessions, and no model over MCP or a GPT. Use the dashboard or the command line.',
  );
}
