import { z } from 'zod';
import type { Operation } from '../operation.js';

/** Providers allow only letters, digits, `_` and `-` in a tool's name. */
export const toolName = (operation: string): string => operation.replaceAll('.', '_');

export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema (draft 7, which all providers read) of the input. */
  parameters: Record<string, unknown>;
}

/** The form in which a model is offered an operation. */
export function modelTool(operation: Operation): ModelTool {
  const { $schema: _, ...parameters } = z.toJSONSchema(operation.input, {
    target: 'draft-7',
    io: 'input',
  });
  return { name: toolName(operation.name), description: operation.description, parameters };
}
