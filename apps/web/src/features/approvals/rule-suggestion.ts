import { mcpToolNamed, type ApprovalRequest } from '@belay/protocol';

export type Expiry = 'hour' | 'day' | 'never';

const hours: Record<Expiry, number | null> = { hour: 1, day: 24, never: null };

export function expiryTime(expiry: Expiry, now = Date.now()): string | null {
  const length = hours[expiry];
  return length === null ? null : new Date(now + length * 3_600_000).toISOString();
}

/**
 * A pattern that covers more than this one call but not much more: the first two words of a plain
 * command, the folder of a path, exactly the host, the MCP tool. A command that joins others stays word for word.
 */
export function suggestPattern({ operation, subject, risk }: ApprovalRequest): string {
  // The same input hardly comes twice: a rule is about the tool.
  if (mcpToolNamed(operation)) return '*';
  if (operation === 'egress' || risk === 'network') return subject;
  if (operation.startsWith('files.')) {
    const folder = subject.lastIndexOf('/');
    return folder > 0 ? `${subject.slice(0, folder)}/*` : subject;
  }
  const words = subject.split(' ');
  if (/[;&|<>`$\n(]/.test(subject) || words.length < 3) return subject;
  return `${words.slice(0, 2).join(' ')} *`;
}
