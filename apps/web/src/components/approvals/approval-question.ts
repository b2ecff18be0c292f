import { calledOperation, mcpToolNamed, type ApprovalRequest } from '@belay/protocol';

/** What the user is asked, such as “Run this command?”. A request of no operation is about a connection. */
export function approvalQuestion({ operation }: Pick<ApprovalRequest, 'operation'>): string {
  const tool = mcpToolNamed(operation);
  if (tool) return `Call ${tool.name} of ${tool.server}?`;
  const called = calledOperation(operation);
  if (!called) return 'Allow this connection?';
  return called.display === 'command' ? 'Run this command?' : `${called.title}?`;
}
