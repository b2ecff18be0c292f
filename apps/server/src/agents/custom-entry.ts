import { wireFormatName, type CustomAgent } from '@belay/protocol';
import { belayServer, type AgentEntry, type AgentStart } from './agent-entry.js';

/** An entry of an admin in the form of the table: without policy files, and with the variables that SDKs know. */
export const customEntry = (agent: CustomAgent): AgentEntry => ({
  name: agent.name,
  title: agent.title ?? agent.name,
  about: 'Its program is in the image of a session.',
  licence: { spdx: null, url: '' },
  formats: wireFormatName.options,
  ping: 'comment',
  protocols: [agent.protocol],
  command: ({ task }) => agent.command.map((part) => part.replaceAll('{task}', () => task ?? '')),
  resume: agent.protocol === 'acp' ? 'load' : null,
  authenticate: null,
  newSession: () => ({}),
  env: (start) => ({ ...sdkVariables(start), BELAY_MODEL: start.model, ...agent.env }),
  files: () => [],
  policy: [],
  project: [],
  tools: {},
  belayTools: `mcp__${belayServer}__`,
  login: null,
  standIn: () => null,
  transcripts: null,
});

/** Only those of the format: some programs choose their provider by which variables are set. */
function sdkVariables({ gateway, token, format }: AgentStart): Record<string, string> {
  if (format === 'messages')
    return { ANTHROPIC_BASE_URL: `${gateway}/anthropic`, ANTHROPIC_API_KEY: token };
  if (format === 'gemini')
    return { GOOGLE_GEMINI_BASE_URL: `${gateway}/gemini`, GEMINI_API_KEY: token };
  return { OPENAI_BASE_URL: `${gateway}/openai/v1`, OPENAI_API_KEY: token };
}
