import { Injectable } from '@nestjs/common';
import type {
  Budgets,
  newSessionAgent,
  SessionAgent,
  SessionMachine,
  SessionSummary,
} from '@belay/protocol';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import { SessionAgents } from '../agents/session-agents.js';
import { ModelGateway } from '../models/model-gateway.js';

interface Wanted {
  agent: z.output<typeof newSessionAgent> | undefined;
  model: string;
  machine: SessionMachine | null;
}

interface Choice {
  caller: Caller;
  budgets?: Budgets | undefined;
}

/** Checks that a session's agent and model exist, and that one can call the other. */
@Injectable()
export class AgentAndModel {
  constructor(
    private readonly models: ModelGateway,
    private readonly agents: SessionAgents,
  ) {}

  /**
   * The agent of a new session; undefined is Belay's own. Throws one sentence when the caller may not use the model, it
   * cannot be called, or the agent is not available for it.
   */
  async of(
    { agent, ...place }: Wanted,
    { caller, budgets }: Choice,
  ): Promise<SessionAgent | undefined> {
    await this.models.choose(place.model, { caller, ...(budgets && { budgets }) });
    return this.agents.choose(agent, place);
  }

  /** Throws one sentence when the caller may not use the model, or this agent cannot call it. */
  async assertMayCall(
    agent: SessionAgent | undefined,
    model: string,
    { caller, budgets }: Choice,
  ): Promise<void> {
    await this.models.choose(model, { caller, ...(budgets && { budgets }) });
    this.agents.assertCanCall(agent, model);
  }

  /** Throws one sentence when a session could not go on with its agent and model. */
  async check({
    agent,
    model,
    budgets,
  }: Pick<SessionSummary, 'agent' | 'model' | 'budgets'>): Promise<void> {
    await this.models.check({ model, budgets });
    this.agents.assertCanCall(agent ?? undefined, model);
  }
}
