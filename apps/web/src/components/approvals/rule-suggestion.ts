import { calledOperation, exactPattern, type ApprovalRequest } from '@belay/protocol';

export type Expiry = 'hour' | 'day' | 'never';

const hours: Record<Expiry, number | null> = { hour: 1, day: 24, never: null };

export function expiryTime(expiry: Expiry, now = Date.now()): string | null {
  const length = hours[expiry];
  return length === null ? null : new Date(now + length * 3_600_000).toISOString();
}

/**
 * A pattern slightly wider than the call: the first two words of a plain command, the folder of a
 * path, the exact host, or any input of an MCP tool. Commands with shell operators or with the
 * wildcards `*`, `?` or `[` are matched exactly.
 */
export function suggestPattern({ operation, subject }: ApprovalRequest): string {
  switch (calledOperation(operation)?.subjectKind) {
    case 'json':
      // The same input rarely recurs, so the rule covers the whole tool.
      return '*';
    case 'path':
      return folderPattern(subject);
    case 'command':
      return commandPattern(subject);
    default:
      return exactPattern(subject);
  }
}

function folderPattern(path: string): string {
  const folder = path.lastIndexOf('/');
  return folder > 0 ? `${exactPattern(path.slice(0, folder))}/*` : exactPattern(path);
}

function commandPattern(command: string): string {
  const words = command.split(' ');
  const isExact = words.length < 3 || /[;&|<>`$\n(*?[\\]/.test(command);
  return isExact ? exactPattern(command) : `${exactPattern(words.slice(0, 2).join(' '))} *`;
}
