import { z } from 'zod';
import { newRule, rule, rulePreview } from '../approvals.js';
import { mcpServer, mcpServerChange, newMcpServer } from '../mcp.js';
import { modelName, providerChange, providerName, providerSetup } from '../models.js';
import { sessionDefaults, sessionDefaultsChange } from '../session.js';
import { modelChoice } from '../setup.js';
import { bytes, nothing, route } from './route.js';

export const settingsRoutes = {
  /** The settings of all future sessions. */
  read: route({
    method: 'GET',
    path: '/api/settings',
    summary: 'Returns the default settings of new sessions',
    response: sessionDefaults,
    about: 'starting',
  }),
  change: route({
    method: 'PATCH',
    path: '/api/settings',
    summary: 'Changes the default settings of new sessions; omitted fields stay as they are',
    body: sessionDefaultsChange,
    response: sessionDefaults,
    access: 'admin',
  }),
};

export const modelRoutes = {
  list: route({
    method: 'GET',
    path: '/api/models',
    summary: 'Lists the models, and whether each can be called now',
    response: z.array(modelChoice),
    about: 'starting',
  }),
  /** Makes one short call to a model to check that it works. */
  try: route({
    method: 'POST',
    path: '/api/models/trial',
    summary: 'Makes one short call to a model to check that it works',
    body: z.object({ model: modelName }),
    response: z.object({ text: z.string(), seconds: z.number() }),
    about: 'starting',
  }),
  providers: route({
    method: 'GET',
    path: '/api/providers',
    summary: 'Lists the providers, and where the key of each comes from',
    response: z.array(providerSetup),
  }),
  /**
   * Keys are write-only: the response contains only whether one is set. A key belongs to its address, so another address
   * drops it, and none removes a server that the user named. Nothing is saved, with the error `model_failed`, if the
   * provider does not list its models with the new settings, unless `unchecked`.
   */
  setProvider: route({
    method: 'PUT',
    path: '/api/providers/:provider',
    summary:
      'Sets the key and address of a provider once it lists its models with them; another address drops the key, and keys are write-only',
    params: z.object({ provider: providerName }),
    body: providerChange,
    response: z.array(providerSetup),
    access: 'admin',
  }),
};

/** The MCP servers that agents may use. Secrets are write-only. */
export const mcpRoutes = {
  list: route({
    method: 'GET',
    path: '/api/mcp',
    summary: 'Lists the MCP servers',
    response: z.array(mcpServer),
    about: 'starting',
  }),
  create: route({
    method: 'POST',
    path: '/api/mcp',
    summary: 'Adds an MCP server; its secrets are write-only',
    body: newMcpServer,
    nameField: 'name',
    response: mcpServer,
    status: 201,
    access: 'admin',
  }),
  change: route({
    method: 'PATCH',
    path: '/api/mcp/:name',
    summary: 'Changes an MCP server; omitted fields stay as they are',
    body: mcpServerChange,
    response: mcpServer,
    access: 'admin',
  }),
  /** For a remote server that asks for OAuth. */
  login: route({
    method: 'POST',
    path: '/api/mcp/:name/login',
    summary: 'Starts a login to a remote MCP server; returns the page where the user continues',
    response: z.object({ url: z.string() }),
    access: 'admin',
  }),
  /** The callback of that page; `state` identifies the login. */
  loggedIn: route({
    method: 'GET',
    path: '/oauth/callback',
    summary: 'Completes a login to a remote MCP server',
    query: z.object({
      code: z.string().max(4_000).optional(),
      state: z.string().max(200).default(''),
      error: z.string().max(200).optional(),
    }),
    response: bytes('text/html; charset=utf-8'),
    failures: 'text/html',
    access: 'open',
  }),
  /** Reconnects and returns the outcome. */
  test: route({
    method: 'POST',
    path: '/api/mcp/:name/test',
    summary: 'Reconnects to an MCP server',
    response: mcpServer,
    access: 'admin',
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/mcp/:name',
    summary: 'Removes an MCP server',
    response: nothing,
    access: 'admin',
  }),
};

export const ruleRoutes = {
  list: route({
    method: 'GET',
    path: '/api/rules',
    summary: 'Lists the approval rules',
    response: z.array(rule),
    about: 'caller',
  }),
  create: route({
    method: 'POST',
    path: '/api/rules',
    summary: 'Adds a rule',
    body: newRule,
    nameField: 'pattern',
    response: rule,
    status: 201,
    access: 'admin',
  }),
  preview: route({
    method: 'POST',
    path: '/api/rules/preview',
    summary: 'Returns what a rule would have decided on past calls',
    body: newRule,
    response: rulePreview,
    about: 'caller',
    unaudited: true,
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/rules/:rule',
    summary: 'Removes a rule',
    response: nothing,
    access: 'admin',
  }),
};
