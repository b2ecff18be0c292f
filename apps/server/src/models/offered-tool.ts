import {
  actionModelTool,
  actionOperationName,
  AppError,
  mcpModelTool,
  mcpOperationName,
  modelTool,
  operationNamed,
  type ModelTool,
} from '@belay/protocol';
import type { GenerateOptions } from './model.js';

const known = new Map<string, ModelTool>();

/** An operation, an MCP tool or an installed action, in the form that models get. Throws `invalid_input`. */
export function offeredTool(
  operation: string,
  { tools, actions }: Pick<GenerateOptions, 'tools' | 'actions'>,
): ModelTool {
  const made = known.get(operation);
  if (made) return made;
  const definition = operationNamed(operation);
  if (definition) {
    const tool = modelTool(definition);
    known.set(operation, tool);
    return tool;
  }
  const tool = tools.find((one) => mcpOperationName(one) === operation);
  if (tool) return mcpModelTool(tool);
  const action = actions.find((one) => actionOperationName(one) === operation);
  if (action) return actionModelTool(action);
  throw new AppError('invalid_input', `There is no operation ${operation} to offer to a model.`);
}
