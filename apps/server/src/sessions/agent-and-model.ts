import { Injectable } from '@nestjs/common';
import type {
  EgressPolicy,
  newSessionAgent,
  SessionAgent,
  SessionMachine,
  SessionSummary,
} from '@belay/protocol';
import type { z } from 'zod';
import { assertMaySignIn, userOf } from '../access/caller.js';
import { SessionAgents } from '../agents/session-agents.js';
import { ModelGateway, type ModelChooser } from '../models/model-gateway.js';
import { SignIns } from './sign-ins.js';

interface Wanted {
  agent: z.output<typeof newSessionAgent> | undefined;
  model: string;
  machine: SessionMachine | null;
}

/** Checks that a session's agent and model exist, and that one can call the other. */
@Injectable()
export class AgentAndModel {
  constructor(
    private readonly models: ModelGateway,
    private readonly agents: SessionAgents,
    private readonly signIns: SignIns,
  ) {}

  /**
   * The agent of a new session; undefined is Belay's own. Throws one sentence when the caller may not use the model, it
   * cannot be called, the agent is not available for it, or its sign-in is in use.
   */
  async of({ agent, ...place }: Wanted, chooser: ModelChooser): Promise<SessionAgent | undefined> {
    const { caller } = chooser;
    if (agent?.login) assertMaySignIn(caller);
    else await this.models.choose(place.model, chooser);
    const chosen = this.agents.choose(agent, { ...place, user: userOf(caller) });
    if (chosen?.login !== undefined)
      await this.signIns.assertFree({ user: chosen.login, agent: chosen.name });
    return chosen;
  }

  /** Throws one sentence when the caller may not use the model, or this agent cannot call it. */
  async assertMayCall(
    agent: SessionAgent | undefined,
    model: string,
    chooser: ModelChooser,
  ): Promise<void> {
    if (agent?.login === undefined) await this.models.choose(model, chooser);
    this.agents.assertCanCall(agent, model);
  }

  /** The network of a new session with this agent. */
  egressFor(agent: SessionAgent | undefined, egress: EgressPolicy): EgressPolicy {
    return this.agents.egressFor(agent, egress);
  }

  /** The network of a session that goes on without this agent’s sign-in. */
  egressWithout(agent: SessionAgent | undefined, egress: EgressPolicy): EgressPolicy {
    return this.agents.egressWithout(agent, egress);
  }

  /** Throws one sentence when a session could not go on with its agent and model. */
  async check({
    id,
    agent,
    model,
    budgets,
  }: Pick<SessionSummary, 'id' | 'agent' | 'model' | 'budgets'>): Promise<void> {
    if (agent?.login !== undefined)
      return this.signIns.assertFree({ user: agent.login, agent: agent.name }, id);
    await this.models.check({ model, budgets });
    this.agents.assertCanCall(agent ?? undefined, model);
  }
}
