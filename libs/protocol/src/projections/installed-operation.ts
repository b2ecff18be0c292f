import { z } from 'zod';
import { actionOperation } from '../action-operation.js';
import type { SessionAction } from '../actions.js';
import { mcpOperation } from '../mcp-operation.js';
import type { McpTool } from '../mcp.js';
import type { Operation } from '../operation.js';
import { actionModelTool, mcpModelTool, type ModelTool } from './model-tool.js';

/** What is installed as every API shows it: an action, a skill, or a tool of an installed MCP server. */
export interface InstalledOperation {
  operation: Operation;
  /** With the description and the schema of its manifest or its server. */
  tool: ModelTool;
  /** Of the route that calls it without a session. */
  path: `/${string}`;
}

export const actionAsInstalled = (action: SessionAction): InstalledOperation => ({
  operation: actionOperation(action),
  tool: actionModelTool(action),
  path: `/api/actions/${action.name}/calls`,
});

export const toolAsInstalled = (tool: McpTool): InstalledOperation => ({
  operation: mcpOperation(tool),
  tool: mcpModelTool(tool),
  path: `/api/actions/${tool.server}/tools/${encodeURIComponent(tool.name)}/calls`,
});

/** The fields that a tool’s own schema names. */
export const fieldsOfTool = ({ parameters }: ModelTool): Record<string, unknown> =>
  withProperties.parse(parameters).properties;

const withProperties = z.object({
  properties: z.record(z.string(), z.unknown()).catch({}),
});
