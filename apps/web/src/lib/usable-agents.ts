import type { AgentChoice } from '@belay/protocol';

/** The agents that a new session can have besides Belay's own. */
export const usableAgents = (agents: readonly AgentChoice[] = []): AgentChoice[] =>
  agents.filter(({ kind, version }) => kind === 'custom' || version !== null);
