import { Injectable } from '@nestjs/common';
import {
  AppError,
  changedDefaults,
  ownAgent,
  type newSession,
  type SandboxProfile,
  type SessionAgent,
} from '@belay/protocol';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import { InstalledActions } from '../actions/installed-actions.js';
import { McpServers } from '../mcp/mcp-servers.js';
import { ModelGateway } from '../models/model-gateway.js';
import { HostFolders } from '../sandboxes/engine/host-folders.js';
import { Machines } from '../sandboxes/machines/machines.js';
import { SettingsStore } from '../settings/settings.store.js';

/** A new session whose place is chosen: by its request, or else by its caller’s token or the server. */
export type PlacedSession = z.output<typeof newSession> & { sandbox: SandboxProfile };

/** The settings of a new session: those missing in the request come from the server’s defaults. */
@Injectable()
export class NewSettings {
  constructor(
    private readonly models: ModelGateway,
    private readonly defaults: SettingsStore,
    private readonly mcp: McpServers,
    private readonly machines: Machines,
    private readonly actions: InstalledActions,
    private readonly folders: HostFolders,
  ) {}

  /**
   * Throws when the caller may not use the model or the machine, the model cannot be called, a folder cannot be shared,
   * or the machine does not exist. `missing` lists
   * MCP servers that cannot be reached.
   */
  async of(wanted: PlacedSession, caller: Caller) {
    if (wanted.machine !== null && wanted.check !== null)
      throw new AppError(
        'invalid_input',
        'A check command is run in sandboxes of the server. Leave out `check` or `machine`.',
      );
    const defaults = changedDefaults(await this.defaults.read(), wanted);
    await this.models.choose(wanted.model, { caller, budgets: defaults.budgets });
    const machine = wanted.machine === null ? null : this.machines.chosenBy(caller, wanted.machine);
    if (wanted.modelForPrograms && machine?.kind === 'bare')
      throw new AppError(
        'invalid_input',
        'Programs on a bare machine cannot call the model. Leave out `modelForPrograms` or `machine`.',
      );
    const mounts = await this.folders.choose(wanted.mounts, {
      profile: wanted.sandbox,
      onMachine: machine !== null,
    });
    const { tools, missing } = await this.mcp.toolsFor(wanted.mcp);
    const actions = this.actions.forSession(wanted.actions);
    const agent = agentFor(wanted.agent);
    const settings = { ...wanted, ...defaults, agent, machine, mcp: tools, actions, mounts };
    return { settings, missing };
  }
}

/** Throws `conflict` for an agent that is not installed; undefined is Belay’s own. */
function agentFor(wanted: PlacedSession['agent']): SessionAgent | undefined {
  if (!wanted || wanted.name === ownAgent) return undefined;
  throw new AppError('conflict', `The agent “${wanted.name}” is not installed on this server.`);
}
