import { editedInput, needsDecision, rejectionOf } from '@belay/protocol';
import type { CallContext } from './call-context.js';
import type { CheckedCall } from './check-call.js';
import type { LoopOptions } from './loop/loop-options.js';
import type { ServerConnection } from './server-connection.js';

interface ApprovalOptions extends Pick<LoopOptions, 'log' | 'writer'> {
  connection: Pick<ServerConnection, 'call'>;
}

/**
 * Waits for the approval of a call that needs one, and then until a pause is over. Returns the call as it was allowed;
 * the user may have changed it. Throws `rejected` with the reason.
 */
export async function approveCall(
  { connection, log, writer }: ApprovalOptions,
  call: CheckedCall,
  { id, signal }: CallContext,
): Promise<CheckedCall> {
  const { operation, input } = call;
  if (!needsDecision(operation, log.conversation.approvals)) return call;
  // The server decides on the call in the log, so it must be stored first.
  await writer.flush();
  const decision = await connection.call('approvals.request', { id }, { signal });
  if (decision.verdict === 'rejected') throw rejectionOf(decision);
  while (log.conversation.paused) await log.changed(signal);
  const { edited } = decision;
  return edited ? { operation, input: editedInput(operation, input, edited), edited } : call;
}
