import type { AgentEntry } from './agent-entry.js';
import { claudeCode } from './table/claude-code.js';
import { codex } from './table/codex.js';
import { gemini } from './table/gemini.js';
import { opencode } from './table/opencode.js';
import { pi } from './table/pi.js';
import { qwen } from './table/qwen.js';

/** The agents that can be installed, by name. */
export const agentTable: ReadonlyMap<string, AgentEntry> = new Map(
  [claudeCode, codex, gemini, opencode, pi, qwen].map((entry) => [entry.name, entry]),
);
