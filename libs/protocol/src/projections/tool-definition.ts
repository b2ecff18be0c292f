import { z } from 'zod';
import { risk, type Audience, type Operation } from '../operation.js';
import { operations } from '../operations/index.js';
import type { InstalledOperation } from './installed-operation.js';
import { modelTool, toolName, type ModelTool } from './model-tool.js';

/** The format of a tool definition: OpenAI’s chat completions or responses API, or Anthropic’s messages API. */
export const toolFormat = z.enum(['openai', 'openai-responses', 'anthropic']);
export type ToolFormat = z.infer<typeof toolFormat>;

/** An operation as described to a program without these types. */
export const describedOperation = z.object({
  name: z.string(),
  tool: z.string().describe('The name of the model’s tool; calls may use either name.'),
  title: z.string(),
  description: z.string(),
  risk,
  viewer: z.boolean().describe('Whether a viewer’s token is sufficient.'),
  input: z.record(z.string(), z.unknown()).describe('JSON Schema of the input.'),
  output: z.record(z.string(), z.unknown()).describe('JSON Schema of the output.'),
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

/** An installed action or tool as a described operation. */
export function describeInstalled({ operation, tool }: InstalledOperation): DescribedOperation {
  const { name, description, parameters } = tool;
  return { ...describeOperation(operation), tool: name, description, input: parameters };
}

/** An installed action or tool as a tool definition in a provider’s format. */
export const installedDefinition = ({ tool }: InstalledOperation, format: ToolFormat) =>
  definitionOf(tool, format);

/** An operation as a tool definition in a provider’s format. */
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

/** The operation of the tool with this name. */
export const operationOfTool = (tool: string): Operation | undefined => byTool.get(tool);

/** The name of the called operation or action, from its own name or that of its tool. */
export const callNamed = (name: string): string =>
  operationOfTool(name)?.name ?? name.replace(/^action_(?=[a-z0-9])/, 'action.');

const byTool = new Map(
  Object.values<Operation>(operations).map((operation) => [toolName(operation.name), operation]),
);
