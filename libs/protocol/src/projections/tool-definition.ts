import { z } from 'zod';
import { risk, type Audience, type Operation } from '../operation.js';
import { operations } from '../operations/index.js';
import type { InstalledOperation } from './installed-operation.js';
import { modelTool, toolName, type ModelTool } from './model-tool.js';

/** Whose form of a tool: OpenAI’s chat completions or responses, Anthropic’s messages. */
export const toolFormat = z.enum(['openai', 'openai-responses', 'anthropic']);
export type ToolFormat = z.infer<typeof toolFormat>;

/** An operation as a program that has none of these types sees it. */
export const describedOperation = z.object({
  name: z.string(),
  tool: z.string().describe('Its name as a tool of a model; calls may use either.'),
  title: z.string(),
  description: z.string(),
  risk,
  viewer: z.boolean().describe('Whether the token of a viewer is enough.'),
  input: z.record(z.string(), z.unknown()).describe('JSON Schema.'),
  output: z.record(z.string(), z.unknown()).describe('JSON Schema.'),
});
export type DescribedOperation = z.infer<typeof describedOperation>;

export function describeOperation(operation: Operation): DescribedOperation {
  const { name, title, description, risk: worst, audience, output } = operation;
  const viewerMay: Audience = 'viewer';
  const { $schema: _, ...result } = z.toJSONSchema(output);
  return {
    name,
    tool: toolName(name),
    title,
    description,
    risk: worst,
    viewer: audience.includes(viewerMay),
    input: modelTool(operation).parameters,
    output: result,
  };
}

/** What is installed as an operation that may be called. */
export function describeInstalled({ operation, tool }: InstalledOperation): DescribedOperation {
  const { name, description, parameters } = tool;
  return { ...describeOperation(operation), tool: name, description, input: parameters };
}

/** What is installed as a provider’s API takes the definition of a tool. */
export const installedDefinition = ({ tool }: InstalledOperation, format: ToolFormat) =>
  definitionOf(tool, format);

/** An operation as a provider’s API takes the definition of a tool. */
export const toolDefinition = (operation: Operation, format: ToolFormat) =>
  definitionOf(modelTool(operation), format);

function definitionOf(
  { name, description, parameters }: ModelTool,
  format: ToolFormat,
): Record<string, unknown> {
  if (format === 'anthropic') return { name, description, input_schema: parameters };
  const definition = { name, description, parameters };
  return format === 'openai'
    ? { type: 'function', function: definition }
    : { type: 'function', ...definition };
}

/** The operation that a tool of this name stands for. */
export const operationOfTool = (tool: string): Operation | undefined => byTool.get(tool);

/** The name of a call that is named as a tool, or as it is. */
export const callNamed = (name: string): string =>
  operationOfTool(name)?.name ?? name.replace(/^action_(?=[a-z0-9])/, 'action.');

const byTool = new Map(
  Object.values<Operation>(operations).map((operation) => [toolName(operation.name), operation]),
);
