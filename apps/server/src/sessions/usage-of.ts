import type { SessionSummary, UsageOfAll } from '@belay/protocol';

/** The total usage of sessions, and the usage by model; the most expensive model comes first. */
export function usageOf(sessions: readonly SessionSummary[]): UsageOfAll {
  const models = Object.entries(Object.groupBy(sessions, ({ model }) => model))
    .map(([model, some = []]) => ({ model, ...sumOf(some) }))
    .sort((a, b) => b.dollars - a.dollars || b.tokens - a.tokens);
  return { ...sumOf(sessions), models };
}

const sumOf = (sessions: readonly SessionSummary[]) => ({
  sessions: sessions.length,
  steps: sum(sessions, ({ steps }) => steps),
  tokens: sum(sessions, ({ tokens }) => tokens),
  dollars: sum(sessions, ({ dollars }) => dollars),
});

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0);
