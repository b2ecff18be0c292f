import { Injectable } from '@nestjs/common';
import {
  AppError,
  changedDefaults,
  subscriptionModel,
  type newSession,
  type SandboxProfile,
} from '@belay/protocol';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import { HostFolders } from '../sandboxes/host-folders.js';
import { Machines } from '../sandboxes/machines/machines.js';
import { SettingsStore } from '../settings/settings.store.js';
import { AgentAndModel } from './agent-and-model.js';
import { NewTools } from './new-tools.js';
import { SessionPlaces } from './session-places.js';

/** A new session whose place is chosen: by its request, or else by its caller’s token or the server. */
export type PlacedSession = z.output<typeof newSession> & { sandbox: SandboxProfile };

/** The settings of a new session: those missing in the request come from the server’s defaults. */
@Injectable()
export class NewSettings {
  constructor(
    private readonly defaults: SettingsStore,
    private readonly tools: NewTools,
    private readonly machines: Machines,
    private readonly folders: HostFolders,
    private readonly choice: AgentAndModel,
    private readonly places: SessionPlaces,
  ) {}

  /**
   * Throws when the caller may not use the model or the machine, the model cannot be called, a folder cannot be shared,
   * the agent is not available, the machine does not exist, or no place fits. `missing` lists MCP servers that cannot be
   * reached.
   */
  async of(wanted: PlacedSession, caller: Caller) {
    if (wanted.machine !== null && Object.keys(wanted.labels).length > 0)
      throw new AppError(
        'invalid_input',
        'Labels choose among the places of sandboxes. Leave out `labels` or `machine`.',
      );
    const defaults = changedDefaults(await this.defaults.read(), wanted);
    const machine = wanted.machine === null ? null : this.machines.chosenBy(caller, wanted.machine);
    if (machine?.kind === 'bare' && wanted.check !== null)
      throw new AppError(
        'invalid_input',
        'A check command is not run on a bare machine, where programs could forge it. Leave out `check` or `machine`.',
      );
    const { agent: named, model } = wanted;
    const { budgets } = defaults;
    const agent = await this.choice.of({ agent: named, model, machine }, { caller, budgets });
    if (agent?.login !== undefined) assertFitsSignIn(wanted);
    if (wanted.modelForPrograms && machine?.kind === 'bare')
      throw new AppError(
        'invalid_input',
        'Programs on a bare machine cannot call the model. Leave out `modelForPrograms` or `machine`.',
      );
    const mounts = await this.folders.choose(wanted.mounts, {
      profile: wanted.sandbox,
      onMachine: machine !== null,
    });
    const { mcp, actions, missing } = await this.tools.of(wanted);
    const egress = this.choice.egressFor(agent, defaults.egress);
    const chosen = agent?.login === undefined ? model : subscriptionModel(agent.name);
    const own = { ...wanted, ...defaults, egress, model: chosen };
    const settings = { ...own, agent, machine, mcp, actions, mounts };
    if (machine === null) this.places.assertFits(settings);
    return { settings, missing };
  }
}

/** Throws one sentence for what a sandbox with a user’s own sign-in does not have. */
function assertFitsSignIn({ sandbox, modelForPrograms }: PlacedSession): void {
  if (sandbox === 'root')
    throw new AppError(
      'invalid_input',
      'A sandbox in which you sign in has no rights of root. Leave out `login` or `sandbox`.',
    );
  if (modelForPrograms)
    throw new AppError(
      'invalid_input',
      'A session with your own sign-in calls no model of the server. Leave out `login` or `modelForPrograms`.',
    );
}
