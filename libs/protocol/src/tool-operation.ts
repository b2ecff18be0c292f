import { z } from 'zod';
import { defineOperation, type Operation } from './operation.js';

/** A tool that an agent’s program brings with it. */
export interface ProgramTool {
  /** The name of the agent. */
  agent: string;
  name: string;
}

export const toolOperationName = ({ agent, name }: ProgramTool): string => `tool.${agent}.${name}`;

/** A tool’s name without characters that an operation’s name cannot have. */
export const loggedToolName = (name: string): string =>
  name.replaceAll(/[^\w.-]/g, '_').slice(0, 100) || 'other';

/** The agent and tool in the name of a call’s action; undefined for any other action. */
export function toolNamed(action: string): ProgramTool | undefined {
  const [, agent, name] = /^tool\.([a-z0-9-]+)\.(.+)$/s.exec(action) ?? [];
  return agent !== undefined && name !== undefined ? { agent, name } : undefined;
}

/** A tool as an operation. What it does is unknown, so it may be anything that a command may do. */
export const toolOperation = (tool: ProgramTool): Operation => ({
  ...anyTool,
  title: tool.name,
  name: toolOperationName(tool),
});

const anyTool = defineOperation({
  title: '',
  description: '',
  risk: 'execute',
  audience: ['model'],
  input: z.record(z.string(), z.unknown()),
  output: z.object({ text: z.string() }),
  // The whole input, because any part of it may matter.
  subject: (input) => JSON.stringify(input),
  subjectKind: 'json',
});
