export * from './access.js';
export * from './action-permissions.js';
export * from './actions.js';
export * from './search-operations.js';
export * from './action-operation.js';
export * from './activity.js';
export * from './agent-program.js';
export * from './agent-trace.js';
export * from './agent-turn.js';
export * from './agents.js';
export * from './allows-image.js';
export * from './approvals.js';
export * from './budget-use.js';
export * from './budgets.js';
export * from './call-words.js';
export * from './calls.js';
export * from './change-total.js';
export * from './check.js';
export * from './comparable-name.js';
export * from './comparisons.js';
export * from './dashboard.js';
export * from './edited-input.js';
export * from './end-to-end-headers.js';
export * from './errors.js';
export * from './evaluations.js';
export * from './events.js';
export * from './file-version.js';
export * from './foreign-call.js';
export * from './format.js';
export * from './git.js';
export * from './git-identity.js';
export * from './git-name.js';
export * from './glob-matcher.js';
export * from './host-connection.js';
export * from './host-entry.js';
export * from './host-folders.js';
export * from './host-sets.js';
export * from './ignores.js';
export * from './image-reference.js';
export * from './json-bounds.js';
export * from './is-fields.js';
export * from './lenient-input.js';
export * from './machine-connection.js';
export * from './machines.js';
export * from './mcp.js';
export * from './match-wildcards.js';
export * from './mcp-operation.js';
export * from './gateway-url.js';
export * from './models.js';
export * from './needs-user.js';
export * from './newest-map.js';
export * from './newest-set.js';
export * from './operation.js';
export * from './operations/browser.js';
export * from './operations/dialogue.js';
export * from './operations/files.js';
export * from './operations/index.js';
export * from './operations/report.js';
export * from './operations/session.js';
export * from './operations/system.js';
export * from './operations/terminal.js';
export * from './operations/web.js';
export * from './operations/workspace.js';
export * from './own-value.js';
export * from './plan.js';
export * from './preview.js';
export * from './proof.js';
export * from './projections/installed-operation.js';
export * from './projections/model-tool.js';
export * from './projections/result-text.js';
export * from './projections/tool-definition.js';
export * from './projections/tool-names.js';
export * from './prompt-delta.js';
export * from './agent-connection.js';
export * from './program-connection.js';
export * from './program-output.js';
export * from './requested-call.js';
export * from './reruns.js';
export * from './rest/automations.js';
export * from './rest/hooks.js';
export * from './rest/action-calls.js';
export * from './rest/api.js';
export * from './rest/comparisons.js';
export * from './rest/git.js';
export * from './rest/mcp-server.js';
export * from './rest/gpt.js';
export { idempotencyKey } from './rest/idempotency-key.js';
export * from './rest/gpt-open-api.js';
export * from './rest/open-api.js';
export * from './rest/page.js';
export * from './rest/preview.js';
export * from './rest/problem.js';
export * from './rest/proof.js';
export {
  isBytes,
  isSchema,
  sessionParameter,
  type Access,
  type Bytes,
  type PathNames,
  type Route,
  type RouteSubject,
  type RouteGroup,
  type RouteInput,
  type RouteOutput,
  type RouteResult,
} from './rest/route.js';
export * from './rest/sessions.js';
export * from './rest/templates.js';
export * from './rest/viewer-links.js';
export * from './readable-output.js';
export * from './review.js';
export * from './rule-matches.js';
export * from './rule-pattern.js';
export * from './session.js';
export * from './session-commands.js';
export * from './session-messages.js';
export * from './session-requests.js';
export * from './setup.js';
export * from './session-usage.js';
export * from './shell-line.js';
export * from './shell-quoted.js';
export * from './statement.js';
export * from './step-copies.js';
export * from './task-calls.js';
export * from './task-templates.js';
export * from './tool-operation.js';
export * from './undone-events.js';
export * from './transcript-file.js';
export * from './version.js';
export * from './viewer-links.js';
export * from './visible-text.js';
export * from './untrusted-text.js';
export * from './wall-time.js';
export * from './wire-format-name.js';
export * from './automations/automation-events.js';
export * from './automations/automation-definition.js';
export * from './automations/automation-runs.js';
export * from './automations/automation-schema.js';
export * from './automations/time-span.js';
export {
  parseFilter,
  matchesFilter,
  type CheckedFilter,
  type FilterFields,
  type FilterValues,
} from './automations/filter.js';
export { assertLaneKey, laneKeyOf } from './automations/lane-key.js';
export { automationFaults, eventsOf } from './automations/automation-rules.js';
export { faultPath, type DefinitionFault } from './automations/definition-fault.js';
export { urlBodyExample } from './automations/url-body-example.js';
export { scheduleWords } from './automations/schedule-words.js';
export { checkedDefinition } from './automations/checked-definition.js';
export { isTimeZone } from './automations/time-zone.js';
export { automationSchema } from './automations/automation-schema.js';
