import { calledOperation, mcpToolNamed, toolNamed, type ApprovalRequest } from '@belay/protocol';

/**
 * The question to the user, such as “Run this command?”. Requests without an operation are about
 * connections.
 */
export function approvalQuestion({ operation }: Pick<ApprovalRequest, 'operation'>): string {
  const tool = mcpToolNamed(operation);
  if (tool) return `Call ${tool.name} of ${tool.server}?`;
  const own = toolNamed(operation);
  if (own) return `Let ${own.agent} call ${own.name}?`;
  const called = calledOperation(operation);
  if (!called) return 'Allow this connection?';
  return called.display === 'command' ? 'Run this command?' : `${called.title}?`;
}
