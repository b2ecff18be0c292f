import { actionCallRoutes } from './action-calls.js';
import { auditRoutes, tokenRoutes, userRoutes } from './access.js';
import { actionRoutes } from './actions.js';
import { agentRoutes } from './agents.js';
import { automationRoutes } from './automations.js';
import { comparisonRoutes } from './comparisons.js';
import { evaluationRoutes } from './evaluations.js';
import { gptDocumentRoutes, gptRoutes } from './gpt.js';
import { hookRoutes } from './hooks.js';
import { gitRoutes, sessionPublishRoutes } from './git.js';
import type { SessionCommandName } from '../session-commands.js';
import type { Route, RouteGroup } from './route.js';
import { mcpServerRoutes, oauthRoutes } from './mcp-server.js';
import { monitoringRoutes, operationRoutes, serverRoutes, uploadRoutes } from './server.js';
import {
  sessionCallRoutes,
  sessionContentRoutes,
  sessionEventRoutes,
  sessionFileRoutes,
  sessionRoutes,
} from './sessions.js';
import { proofRoutes, sessionLogRoutes } from './proof.js';
import { sessionPreviewRoutes } from './preview.js';
import { machineRoutes } from './machines.js';
import { mcpRoutes, modelRoutes, ruleRoutes, settingsRoutes } from './setup.js';
import { templateRoutes } from './templates.js';
import { viewerLinkRoutes } from './viewer-links.js';

/** Every REST route of the server: its client has the same shape. */
export const api = {
  sessions: {
    ...sessionRoutes,
    ...sessionEventRoutes,
    ...sessionLogRoutes,
    ...sessionCallRoutes,
    ...sessionFileRoutes,
    ...sessionContentRoutes,
    ...sessionPublishRoutes,
    ...sessionPreviewRoutes,
  },
  automations: automationRoutes,
  hooks: hookRoutes,
  comparisons: comparisonRoutes,
  operations: operationRoutes,
  actionCalls: actionCallRoutes,
  evaluations: evaluationRoutes,
  uploads: uploadRoutes,
  models: modelRoutes,
  git: gitRoutes,
  machines: machineRoutes,
  mcp: mcpRoutes,
  actions: actionRoutes,
  agents: agentRoutes,
  rules: ruleRoutes,
  settings: settingsRoutes,
  templates: templateRoutes,
  tokens: tokenRoutes,
  viewerLinks: viewerLinkRoutes,
  users: userRoutes,
  audit: auditRoutes,
  proof: proofRoutes,
  server: serverRoutes,
  monitoring: monitoringRoutes,
  mcpServer: mcpServerRoutes,
  oauth: oauthRoutes,
} satisfies Record<string, RouteGroup>;

/** All routes, including those for custom GPTs, which have a document of their own. */
export const allRoutes: readonly Route[] = [
  ...Object.values(api),
  gptRoutes,
  gptDocumentRoutes,
].flatMap((group) => Object.values<Route>(group));

const names = new Map<Route, string>(
  Object.entries({ ...api, gpt: { ...gptRoutes, ...gptDocumentRoutes } }).flatMap(
    ([group, routes]) =>
      Object.entries<Route>(routes).map(([name, route]): [Route, string] => [
        route,
        `${group}.${name}`,
      ]),
  ),
);

/** The name of a route, as the client has it: `sessions.stop`. */
export const routeName = (route: Route): string => names.get(route) ?? route.path;

const commandActions = new Map(
  [...names].flatMap(([{ command }, name]) => (command ? [[command, name] as const] : [])),
);

/** The name of a session’s command in the audit log, whichever API it came through: that of its route, `sessions.stop`. */
export const commandAction = (name: SessionCommandName): string =>
  commandActions.get(name) ?? `sessions.${name}`;
