import { actionNamed } from '../action-operation.js';
import { mcpToolNamed } from '../mcp-operation.js';
import { operationNamed } from '../operations/index.js';
import { toolName } from './model-tool.js';

/**
 * Belay’s own text with each operation’s name replaced by that of its tool for a model. Text in quotes or backticks is
 * a command, a path or a line of a file, and is not changed.
 */
export const withToolNames = (text: string): string =>
  text.replaceAll(
    /"[^"\n]*"|`[^`\n]*`|\b(?:mcp\.[a-z0-9-]+\.[\w.-]*\w|action\.[a-z0-9][a-z0-9_-]*|[a-z]+\.[a-z]+(?:-[a-z]+)*)/g,
    (found) => (isCallName(found) ? toolName(found) : found),
  );

/** The same for a first line only: the lines after it quote other text and are not changed. */
export function sentenceWithToolNames(text: string): string {
  const end = text.indexOf('\n');
  return end < 0 ? withToolNames(text) : withToolNames(text.slice(0, end)) + text.slice(end);
}

const isCallName = (name: string): boolean =>
  operationNamed(name) !== undefined ||
  mcpToolNamed(name) !== undefined ||
  actionNamed(name) !== undefined;
