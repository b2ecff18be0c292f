import { z } from 'zod';
import { actionOperation } from '../action-operation.js';
import type { SessionAction } from '../actions.js';
import { mcpOperation } from '../mcp-operation.js';
import type { McpTool } from '../mcp.js';
import type { Operation } from '../operation.js';
import { actionModelTool, mcpModelTool, type ModelTool } from './model-tool.js';

/** An installed action, skill, or tool of an installed MCP server, as every API shows it. */
export interface InstalledOperation {
  operation: Operation;
  /** The tool, with the description and schema of its manifest or server. */
  tool: ModelTool;
  /** The path of the route that calls it without a session. */
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

/** The fields in a tool’s own schema. */
export const fieldsOfTool = ({ parameters }: ModelTool): Record<string, unknown> =>
  withProperties.parse(parameters).properties;

const withProperties = z.object({
  properties: z.record(z.string(), z.unknown()).catch({}),
});
