import {
  methods,
  type AgentContext,
  type RequestPermissionRequest,
} from '@agentclientprotocol/sdk';
import {
  alwaysAnswer,
  requestedCall,
  type ApprovalAnswer,
  type ApprovalRequest,
} from '@belay/protocol';

const options: RequestPermissionRequest['options'] = [
  { optionId: 'approved', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow in this session', kind: 'allow_always' },
  { optionId: 'rejected', name: 'Reject', kind: 'reject_once' },
];

/** Asks the editor’s user whether a call may run; undefined without an answer. Rejects when the editor is gone. */
export async function askPermission(
  client: AgentContext,
  { session, asked, signal }: { session: string; asked: ApprovalRequest; signal: AbortSignal },
): Promise<ApprovalAnswer | undefined> {
  const { id, operation, subject, input } = asked;
  // Everything that the answer allows, such as the permissions of an action.
  const text = requestedCall(asked);
  const request: RequestPermissionRequest = {
    sessionId: session,
    toolCall: {
      toolCallId: id,
      title: `${operation} ${subject}`.slice(0, 2_000),
      rawInput: input,
      content: [{ type: 'content', content: { type: 'text', text } }],
    },
    options,
  };
  const { outcome } = await client.request(methods.client.session.requestPermission, request, {
    cancellationSignal: signal,
  });
  const chosen = outcome.outcome === 'selected' ? outcome.optionId : undefined;
  if (chosen === 'always') return alwaysAnswer(asked);
  return chosen === 'approved' || chosen === 'rejected' ? { verdict: chosen } : undefined;
}
