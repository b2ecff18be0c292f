import { needsDecision, rejectionOf } from '@belay/protocol';
import type { CallContext } from './call-context.js';
import type { CheckedCall } from './check-call.js';
import type { LoopOptions } from './loop/loop-options.js';
import type { ServerConnection } from './server-connection.js';

interface ApprovalOptions extends Pick<LoopOptions, 'log' | 'writer'> {
  connection: Pick<ServerConnection, 'call'>;
}

/**
 * Waits for the approval of a call that needs one, and then until a pause is over. Throws `rejected` with the reason.
 */
export async function approveCall(
  { connection, log, writer }: ApprovalOptions,
  { operation }: CheckedCall,
  { id, signal }: CallContext,
): Promise<void> {
  if (!needsDecision(operation, log.conversation.approvals)) return;
  // The server decides on the call in the log, so it must be stored first.
  await writer.flush();
  const decision = await connection.call('approvals.request', { id }, { signal });
  if (decision.verdict === 'rejected') throw rejectionOf(decision);
  while (log.conversation.paused) await log.changed(signal);
}
