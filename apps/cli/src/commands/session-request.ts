import { resolve } from 'node:path';
import {
  AppError,
  isPlayedModel,
  mountIn,
  subscriptionModel,
  usualPlanFile,
  type AgentProtocol,
  type Example,
  type NewMount,
  type NewSession,
  type SavedTemplate,
  type SessionDefaultsChange,
} from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { labelsIn, type NamedAgent } from '../options.js';
import { ownSettings, type OwnSettings } from '../own-settings.js';

/** The options for a new session. */
export interface SessionRequestOptions extends OwnSettings {
  model?: string;
  models?: string[];
  /** To compare; those without a model get the one of the request. */
  agents?: NamedAgent[];
  agent?: string;
  agentProtocol?: AgentProtocol;
  smallModel?: string;
  login?: boolean;
  check?: string;
  template?: string;
  clone?: string;
  branch?: string;
  commit?: string;
  depth?: number;
  example?: string;
  image?: string;
  root?: boolean;
  machine?: string;
  on?: string[];
  mount?: string[];
  title?: string;
  planFile?: string | true;
  trust?: boolean;
  modelForPrograms?: boolean;
  /** False for none; by default, all enabled servers. */
  mcp?: string[] | false;
  actions?: string[] | false;
}

/** The request for a session: options take precedence over the template, and the template over the example. */
export async function sessionRequest(
  client: BelayClient,
  task: string | undefined,
  options: SessionRequestOptions,
): Promise<NewSession> {
  const template: Partial<SavedTemplate> = options.template
    ? named('template', await client.templates.list(), options.template)
    : {};
  const example: Partial<Example> = options.example
    ? named('example', await client.server.examples(), options.example)
    : {};
  const tasks = [template.task, task].filter(Boolean).join('\n\n');
  return {
    ...ownRequest(options),
    ...settingsOf(template, options),
    task: tasks || (example.task ?? ''),
    model: namedModel(options, { template, example }) ?? (await firstReadyModel(client)),
    check: (options.check ?? template.check) || null,
    workspace: example.name ? `example:${example.name}` : null,
    title: options.title ?? example.title,
  };
}

/**
 * The model that the options name, or else the template, the environment, the example, or one of the agents; with
 * `--login`, only the agent knows it.
 */
function namedModel(
  { login, agent = '', models, model, agents }: SessionRequestOptions,
  { template, example }: { template: Partial<SavedTemplate>; example: Partial<Example> },
): string | undefined {
  if (login) return subscriptionModel(agent);
  const ofAgents = agents?.find((one) => one.model !== undefined)?.model;
  const given = models?.[0] ?? model ?? template.model;
  return given || process.env.BELAY_MODEL || example.model || ofAgents;
}

/** The part of the request that comes from the options. */
const ownRequest = ({ clone, branch, commit, depth, ...options }: SessionRequestOptions) => ({
  agent: agentOf(options),
  image: options.image,
  sandbox: options.root ? ('root' as const) : undefined,
  machine: options.machine,
  labels: labelsIn(options.on),
  mounts: mountsOf(options.mount),
  repository: clone ? { url: clone, branch, commit, depth } : undefined,
  trust: options.trust,
  modelForPrograms: options.modelForPrograms,
  planFile: options.planFile === true ? usualPlanFile : options.planFile,
  mcp: options.mcp === false ? [] : options.mcp,
  actions: options.actions === false ? [] : options.actions,
});

const agentOf = ({
  agent,
  agentProtocol,
  smallModel,
  login,
}: SessionRequestOptions): NewSession['agent'] =>
  agent === undefined
    ? undefined
    : { name: agent, protocol: agentProtocol, small: smallModel, login };

function settingsOf(
  { approvals, budgets, egress }: SessionDefaultsChange,
  options: OwnSettings,
): SessionDefaultsChange {
  const own = ownSettings(options);
  return {
    ...(approvals && { approvals }),
    ...own,
    budgets: { ...budgets, ...own.budgets },
    egress: { ...egress, ...own.egress },
  };
}

/** Folders of the server’s machine; relative ones are resolved here, for a server on the same machine. */
const mountsOf = (given: readonly string[] = []): NewMount[] =>
  given.map(mountIn).map(({ folder, readOnly }) => ({ folder: resolve(folder), readOnly }));

/** Throws `not_found` with the available names. */
function named<T extends { name: string }>(kind: string, all: readonly T[], name: string): T {
  const found = all.find((one) => one.name === name);
  if (found) return found;
  const names = all.map((one) => one.name).join(', ');
  throw new AppError(
    'not_found',
    `There is no ${kind} ${name}. Choose one of: ${names || '(none)'}.`,
  );
}

/** The first available model, if none was named. */
async function firstReadyModel(client: BelayClient): Promise<string> {
  const ready = (await client.models.list()).find(
    (model) => model.ready && !isPlayedModel(model.name),
  );
  if (ready) return ready.name;
  throw new AppError(
    'invalid_input',
    'No model is ready. Name one with --model provider:model, or set a key such as OPENAI_API_KEY for the server.',
  );
}
