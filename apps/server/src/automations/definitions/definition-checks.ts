import { Injectable } from '@nestjs/common';
import {
  AppError,
  isForgeTrigger,
  type AutomationDefinition,
  type DefinitionFault,
  type ForgeTrigger,
  type TaskTemplate,
} from '@belay/protocol';
import { userOf, type Caller } from '../../access/caller.js';
import { InstalledActions } from '../../actions/installed-actions.js';
import { SessionAgents } from '../../agents/session-agents.js';
import { GitHosts, hostOf } from '../../git/git-hosts.js';
import { McpServers } from '../../mcp/mcp-servers.js';
import { ModelGateway } from '../../models/model-gateway.js';
import { TemplatesStore } from '../../settings/templates.store.js';

/** Whether a definition names only what this server has. */
@Injectable()
export class DefinitionChecks {
  constructor(
    private readonly templates: TemplatesStore,
    private readonly models: ModelGateway,
    private readonly agents: SessionAgents,
    private readonly hosts: GitHosts,
    private readonly mcp: McpServers,
    private readonly actions: InstalledActions,
  ) {}

  /** What is missing, one sentence each. Templates are those of the owner, whose rights runs have. */
  async faultsOf(
    { on, run, out }: AutomationDefinition,
    owner: Caller,
  ): Promise<DefinitionFault[]> {
    const templates = run.template === undefined ? [] : await this.templates.list(owner);
    const template = templates.find(({ name }) => name === run.template);
    const needsToken = out.pullRequest !== undefined;
    return [
      ...(run.template !== undefined && !template
        ? [
            fault(
              'run.template',
              `${owner.label} has no task template ${run.template}: save it first`,
            ),
          ]
        : []),
      ...(await this.#modelFaults(run, template, owner)),
      ...this.#agentFaults(run, template, owner),
      ...(isForgeTrigger(on) ? this.#hostFaults(on) : this.#repositoryFaults(on, needsToken)),
      ...this.#toolFaults(run),
    ];
  }

  /** Whether a model is named, by the definition or by its template. */
  async namesModel({ run }: AutomationDefinition, owner: Caller): Promise<boolean> {
    if (run.model !== undefined) return true;
    const templates = run.template === undefined ? [] : await this.templates.list(owner);
    return templates.some(({ name, model }) => name === run.template && model !== null);
  }

  async #modelFaults(
    { model: named, budgets }: AutomationDefinition['run'],
    template: TaskTemplate | undefined,
    caller: Caller,
  ): Promise<DefinitionFault[]> {
    const model = named ?? template?.model ?? undefined;
    if (model === undefined) return [];
    const limits = { dollars: null, tokens: null, seconds: null, steps: null, ...budgets };
    const path = named === undefined ? 'run.template' : 'run.model';
    // As the runs will, whatever more the owner may.
    const runs: Caller = { ...caller, scope: 'operate' };
    return refusalOf(path, () => this.models.choose(model, { caller: runs, budgets: limits }));
  }

  #agentFaults(
    { agent, model: named }: AutomationDefinition['run'],
    template: TaskTemplate | undefined,
    owner: Caller,
  ): DefinitionFault[] {
    const model = named ?? template?.model ?? undefined;
    if (!agent) return [];
    if (agent.login)
      return [fault('run.agent.login', 'an automation has no user to sign in: leave it out')];
    if (model === undefined)
      return this.agents.entry(agent.name) || agent.name === 'belay'
        ? []
        : [fault('run.agent.name', `there is no agent ${agent.name}`)];
    return refusalNow('run.agent', () =>
      this.agents.choose(agent, { model, machine: null, user: userOf(owner) }),
    );
  }

  #hostFaults({ host: name }: ForgeTrigger): DefinitionFault[] {
    const host = this.hosts.list().find((one) => one.host === name);
    if (!host)
      return [
        fault(
          'on.host',
          `there is no git host ${name}: add it with a token under Settings, Git hosts`,
        ),
      ];
    if (!host.token)
      return [fault('on.host', `${name} has no token: add one under Settings, Git hosts`)];
    if (host.kind === 'other')
      return [
        fault(
          'on.host',
          `${name} is of the kind other, which has no events: choose github, gitlab or gitea under Settings, Git hosts`,
        ),
      ];
    return [];
  }

  #repositoryFaults(on: AutomationDefinition['on'], needsToken: boolean): DefinitionFault[] {
    const url = 'repository' in on ? on.repository : undefined;
    if (url === undefined) return [];
    return refusalNow('on.repository', () => {
      const { address } = this.hosts.remote(url, 'operate');
      const host = hostOf(address);
      if (needsToken && !this.hosts.describe(host).token)
        throw new AppError(
          'invalid_input',
          `pull requests need a token for ${host}: add one under Settings, Git hosts`,
        );
    });
  }

  #toolFaults({ mcp, actions }: AutomationDefinition['run']): DefinitionFault[] {
    const servers = new Set(this.mcp.list().map(({ name }) => name));
    return [
      ...mcp.flatMap((name, at) =>
        servers.has(name)
          ? []
          : [{ path: ['run', 'mcp', at], message: `there is no MCP server ${name}` }],
      ),
      ...actions.flatMap((name, at) =>
        this.actions.has(name)
          ? []
          : [{ path: ['run', 'actions', at], message: `there is no action ${name}` }],
      ),
    ];
  }
}

const fault = (path: string, message: string): DefinitionFault => ({
  path: path.split('.'),
  message,
});

async function refusalOf(path: string, check: () => Promise<unknown>): Promise<DefinitionFault[]> {
  try {
    await check();
    return [];
  } catch (error) {
    if (error instanceof AppError) return [fault(path, error.message)];
    throw error;
  }
}

function refusalNow(path: string, check: () => unknown): DefinitionFault[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof AppError) return [fault(path, error.message)];
    throw error;
  }
}
