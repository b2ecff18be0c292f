import {
  actionModelTool,
  actionOperationName,
  mcpModelTool,
  mcpOperationName,
  modelTool,
  type Message,
  type ModelTool,
  type Operation,
  type OperationOutput,
  type PromptPart,
} from '@belay/protocol';
import type { Conversation } from './conversation.js';
import { listedOperations } from './listed-operations.js';
import { prompt } from './prompt.js';
import { systemSections } from './system-prompt.js';

/** A rough estimate for all models. */
const charactersPerToken = 4;
/** Longer parts are shortened, in characters; the log has the whole conversation. */
const longestText = 100_000;
/** The number of listed messages; older ones are only counted. */
const mostMessages = 500;

/** The parts of the next model call’s prompt. */
export function promptParts(
  conversation: Conversation,
  offered: readonly Operation[],
  notice?: string,
): OperationOutput<'session.prompt'> {
  const [, ...messages] = prompt(conversation, notice);
  const tools = listedOperations(conversation, offered).map((one) => toolOf(one, conversation));
  const parts = [
    ...systemSections(conversation).map(({ kind, name, text }) => partOf(kind, name, text)),
    ...tools.map((tool) => partOf('tool', tool.name, JSON.stringify(tool))),
    ...history(messages),
  ];
  return { parts, tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0) };
}

/** An operation of the session in the form that the model gets. */
export function toolOf(
  operation: Operation,
  { settings }: Pick<Conversation, 'settings'>,
): ModelTool {
  const mcp = settings?.mcp.find((tool) => mcpOperationName(tool) === operation.name);
  if (mcp) return mcpModelTool(mcp);
  const action = settings?.actions.find((one) => actionOperationName(one) === operation.name);
  return action ? actionModelTool(action) : modelTool(operation);
}

function history(messages: readonly Message[]): PromptPart[] {
  const parts = messages.map((message) => partOf('history', message.role, textOf(message)));
  const older = parts.slice(0, -mostMessages);
  if (older.length === 0) return parts;
  const tokens = older.reduce((sum, part) => sum + part.tokens, 0);
  const text = `${older.length} older messages, which the log has.`;
  return [{ kind: 'history', name: 'older', text, tokens }, ...parts.slice(-mostMessages)];
}

function textOf(message: Message): string {
  if (message.role === 'tool') {
    return message.results.map((result) => JSON.stringify(result)).join('\n');
  }
  if (message.role !== 'assistant') return message.text;
  const { text, reasoning, calls } = message;
  const called = calls.map(({ operation, input }) => `${operation} ${JSON.stringify(input)}`);
  return [reasoning, text, ...called].filter(Boolean).join('\n');
}

function partOf(kind: PromptPart['kind'], name: string, text: string): PromptPart {
  const tokens = Math.ceil(text.length / charactersPerToken);
  if (text.length <= longestText) return { kind, name, text, tokens };
  const half = longestText / 2;
  const left = text.length - longestText;
  const cut = `${text.slice(0, half).toWellFormed()}\n[… ${left} characters …]\n${text.slice(-half).toWellFormed()}`;
  return { kind, name, text: cut, tokens };
}
