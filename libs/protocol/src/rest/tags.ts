import type { api } from './api.js';

/** What the routes of each group are for. */
export const tags: Record<keyof typeof api, string> = {
  sessions: 'Sessions: their state, log, messages, files and results.',
  automations:
    'What begins sessions by itself: events of git hosts, times, requests, other sessions.',
  hooks: 'What begins runs of automations from outside.',
  comparisons: 'One task for several models or runs.',
  operations: 'What an agent can do in a sandbox; users call the same operations.',
  actionCalls: 'Calls of installed actions outside of sessions.',
  evaluations: 'Benchmark runs: those on the board, and starting one on the server.',
  uploads: 'Workspaces and pictures for sessions.',
  models: 'The models, and the providers that they come from.',
  git: 'The git hosts that sessions are cloned from and published to.',
  machines: 'Joined machines, which run agents for this server.',
  mcp: 'The MCP servers whose tools agents use.',
  actions: 'The installed actions.',
  agents: 'Agents of other vendors, which sessions can start instead of Belay’s own.',
  rules: 'Rules that answer approvals automatically.',
  settings: 'The default settings of new sessions.',
  templates: 'The caller’s own task templates.',
  tokens: 'Tokens of programs.',
  viewerLinks: 'Links with which others watch one session.',
  users: 'Accounts on a team’s server.',
  audit: 'Who changed what, and when.',
  proof: 'What shows others how a change was made, and that its log is as it was.',
  server: 'The server itself.',
  monitoring: 'Health of the server.',
  mcpServer: 'The MCP server of Belay itself.',
  oauth: 'OAuth for MCP clients.',
};
