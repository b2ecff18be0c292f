import { Req } from '@nestjs/common';
import {
  api,
  AppError,
  customAgent,
  type AgentChoice,
  type OtherAgentVersion,
} from '@belay/protocol';
import type { Request } from 'express';
import { AgentInstaller } from '../../agents/agent-installer.js';
import { AgentList } from '../../agents/agent-list.js';
import { AgentStore } from '../../agents/agent.store.js';
import { InstallableAgents } from '../../agents/installable-agents.js';
import { OtherVersions } from '../../agents/other-versions.js';
import { userOf } from '../../access/caller.js';
import { SignIns } from '../../sessions/sign-ins.js';
import { callerOf } from '../auth/access.guard.js';
import { parsedInput } from '../../parsed-input.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.agents>;

/** Installs, lists and removes agents. */
@RestController(api.agents)
export class AgentsController {
  constructor(
    private readonly agents: AgentList,
    private readonly installer: AgentInstaller,
    private readonly installable: InstallableAgents,
    private readonly store: AgentStore,
    private readonly versions: OtherVersions,
    private readonly signIns: SignIns,
  ) {}

  list(_: unknown, @Req() request: Request): Promise<AgentChoice[]> {
    return this.agents.all(callerOf(request));
  }

  async version({ params }: Inputs['version']): Promise<OtherAgentVersion> {
    return (await this.versions.find(params.agent, params.version)).shown;
  }

  async install(
    { params, body: { accept, other } }: Inputs['install'],
    @Req() request: Request,
  ): Promise<AgentChoice> {
    const lock = other && (await this.versions.confirmed(params.agent, other));
    this.installer.begin(params.agent, { accept, other: lock });
    return this.agents.named(params.agent, callerOf(request));
  }

  async remove({ params: { agent } }: Inputs['remove']): Promise<void> {
    if (this.installable.known(agent)) await this.installer.remove(agent);
    else await this.store.removeCustom(agent);
  }

  async logout({ params: { agent } }: Inputs['logout'], @Req() request: Request): Promise<void> {
    await this.signIns.remove({ user: userOf(callerOf(request)), agent });
  }

  async saveCustom(
    { params, body }: Inputs['saveCustom'],
    @Req() request: Request,
  ): Promise<AgentChoice> {
    const name = params.agent;
    if (this.installable.known(name))
      throw new AppError(
        'conflict',
        `${name} is an agent that can be installed. Choose another name.`,
      );
    await this.store.putCustom(parsedInput('agent', customAgent.shape.name, name), body);
    return this.agents.named(name, callerOf(request));
  }
}
