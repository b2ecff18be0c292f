import type { ApprovalRequest, NewRule } from '@belay/protocol';

/** Requests and rules for tests of approvals. */
export const terminalRequest = (id: string, command = 'npm test'): ApprovalRequest => ({
  id,
  operation: 'terminal.run',
  input: { command },
  risk: 'execute',
  subject: command,
});

export const hostRequest: ApprovalRequest = {
  id: 'e1',
  operation: 'egress',
  input: { host: 'example.org', port: 443 },
  risk: 'network',
  subject: 'example.org:443',
};

export const terminalRule = (more: Partial<NewRule> = {}): NewRule => ({
  scope: 'all',
  operation: 'terminal.run',
  pattern: 'npm test *',
  verdict: 'approved',
  expires: null,
  ...more,
});
