import type { z } from 'zod';
import { auditEntry, madeToken, newToken, newUser, tokenInfo, userInfo } from '../access.js';
import {
  actionInstall,
  actionManifest,
  actionOutput,
  foundActions,
  installedAction,
} from '../actions.js';
import { approvalRequest, newRule, rule, rulePreview } from '../approvals.js';
import { comparison, newComparison } from '../comparisons.js';
import {
  benchmarkData,
  evaluation,
  evaluationSummary,
  evaluationTrial,
  newEvaluation,
} from '../evaluations.js';
import { event } from '../events.js';
import { gitHost, preparedPublish, publishedChange } from '../git.js';
import { machine } from '../machines.js';
import { mcpOutput, mcpServer, newMcpServer } from '../mcp.js';
import { providerSetup } from '../models.js';
import { operations } from '../operations/index.js';
import { describedOperation } from '../projections/tool-definition.js';
import { sessionCommands } from '../session-commands.js';
import { sessionDefaults, sessionSummary } from '../session.js';
import { newMessage } from '../session-messages.js';
import { sessionUsage, usageOfAll } from '../session-usage.js';
import { check, example, modelChoice } from '../setup.js';
import { savedTemplate } from '../task-templates.js';
import { madeViewerLink, viewerLink } from '../viewer-links.js';
import { problem } from './problem.js';

type Names = ReadonlyMap<z.core.$ZodType, string>;

/** The names of what callers get, as types of generated clients. Other objects are named after their operation. */
export const responseNames: Names = new Map<z.core.$ZodType, string>([
  [actionInstall, 'ActionInstall'],
  [actionManifest, 'ActionManifest'],
  [actionOutput, 'ActionOutput'],
  [approvalRequest, 'ApprovalRequest'],
  [auditEntry, 'AuditEntry'],
  [benchmarkData, 'BenchmarkData'],
  [check, 'Check'],
  [comparison, 'Comparison'],
  [describedOperation, 'Operation'],
  [evaluation, 'Evaluation'],
  [evaluationSummary, 'EvaluationSummary'],
  [evaluationTrial, 'EvaluationTrial'],
  [event, 'Event'],
  [example, 'Example'],
  [foundActions, 'FoundActions'],
  [gitHost, 'GitHost'],
  [installedAction, 'InstalledAction'],
  [machine, 'Machine'],
  [madeToken, 'MadeToken'],
  [madeViewerLink, 'MadeViewerLink'],
  [mcpOutput, 'McpOutput'],
  [mcpServer, 'McpServer'],
  [modelChoice, 'Model'],
  [operations['browser.read'].output, 'BrowserPage'],
  [operations['files.write'].output, 'WrittenFile'],
  [operations['terminal.run'].output, 'TerminalOutput'],
  [preparedPublish, 'PreparedPublish'],
  [problem, 'Problem'],
  [providerSetup, 'Provider'],
  [publishedChange, 'PublishedChange'],
  [rule, 'Rule'],
  [rulePreview, 'RulePreview'],
  [savedTemplate, 'Template'],
  [sessionDefaults, 'SessionDefaults'],
  [sessionSummary, 'Session'],
  [sessionUsage, 'SessionUsage'],
  [tokenInfo, 'Token'],
  [usageOfAll, 'Usage'],
  [userInfo, 'User'],
  [viewerLink, 'ViewerLink'],
]);

/** The same for what callers send. Generators for Go write a function `NewSession` for the type `Session`. */
export const requestNames: Names = new Map<z.core.$ZodType, string>([
  [newComparison, 'CreateComparison'],
  [newEvaluation, 'CreateEvaluation'],
  [newMcpServer, 'CreateMcpServer'],
  [newMessage, 'CreateMessage'],
  [newRule, 'CreateRule'],
  [newToken, 'CreateToken'],
  [newUser, 'CreateUser'],
  [sessionCommands.start.body, 'CreateSession'],
]);
