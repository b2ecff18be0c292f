import type { AgentProtocol } from '@belay/protocol';

/** How an agent’s program is driven, for people. */
export const agentProtocols: Readonly<Record<AgentProtocol, string>> = {
  acp: 'Agent Client Protocol',
  terminal: 'In a terminal',
};
