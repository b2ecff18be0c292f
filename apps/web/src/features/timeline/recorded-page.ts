import type { SessionSummary } from '@belay/protocol';
export function recordedPage(_: {
  summary: SessionSummary;
  events: unknown;
  terminals: unknown;
}): string {
  return '';
}
