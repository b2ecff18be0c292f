import { Injectable } from '@nestjs/common';
import {
  actionNamed,
  actionOperation,
  AppError,
  calledOperation,
  isCall,
  isEvent,
  mcpOperationName,
  mcpToolNamed,
  type Event,
  type McpTool,
  type Operation,
  type SessionAction,
} from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';
import { SessionsStore } from '../logs/sessions.store.js';
import { parsedInput } from '../parsed-input.js';

/** A call as the log has it, which no later message of its sandbox can change. */
export interface LoggedCall {
  id: string;
  source: 'agent' | 'user';
  operation: Operation;
  /** As the operation’s schema reads it. */
  input: Record<string, unknown>;
  /** The tool that the session was given, for a call of an MCP server. */
  tool: McpTool | null;
  /** The action that the session was given, for a call of one. */
  action: SessionAction | null;
  /** The call and what the log has of it since; empty for a user’s call that is not logged, or not yet. */
  events: readonly Event[];
}

/** Reads what an agent asks about from the log. An agent names a call by its id and states nothing else about it. */
@Injectable()
export class LoggedCalls {
  constructor(
    private readonly log: EventLog,
    private readonly store: SessionsStore,
  ) {}

  /**
   * The call with this id that waits for its result. Throws `not_found` when the log has none, `conflict` when it has a
   * result or an earlier agent began it, `forbidden` when its agent may not call this.
   */
  async open(session: string, id: string): Promise<LoggedCall> {
    const { events, epoch } = await this.store.ofCall(session, id);
    const [event, again] = events.filter(({ action }) => isCall(action));
    const known = event && calledOperation(event.action);
    const unlogged = events.length === 0 && this.log.userCall(session, id);
    if (unlogged) {
      const { name } = unlogged.operation;
      const tool = await this.#toolOf(session, name);
      const action = await this.#actionOf(session, name);
      return { ...unlogged, id, source: 'user', tool, action, events };
    }
    if (!event || !known || event.source === 'server') {
      throw new AppError('not_found', `The log has no call ${id}.`);
    }
    // An approval from before the call belongs to something else.
    if (again || event !== events[0]) {
      throw new AppError('forbidden', `The id ${id} is not that of a single call.`);
    }
    if (events.some((one) => isEvent(one, 'result'))) {
      throw new AppError('conflict', `The call ${id} already has a result.`);
    }
    if (epoch !== (await this.log.epoch(session))) {
      throw new AppError('conflict', `An earlier agent of the session began the call ${id}.`);
    }
    const tool = await this.#toolOf(session, event.action);
    const action = await this.#actionOf(session, event.action);
    const operation = action ? actionOperation(action) : known;
    parsedInput(operation.name, operation.input, event.args);
    const { source } = event;
    if (source === 'agent' && !operation.audience.includes('model')) {
      throw new AppError('forbidden', `${operation.name} is for users, not for agents.`);
    }
    return { id, source, operation, input: event.args, tool, action, events };
  }

  /** The tool as it was at the session’s begin; null for an operation. */
  async #toolOf(session: string, action: string): Promise<McpTool | null> {
    if (!mcpToolNamed(action)) return null;
    const { mcp } = await this.log.settings(session);
    const tool = mcp.find((one) => mcpOperationName(one) === action);
    if (tool) return tool;
    throw new AppError('forbidden', `The tool ${action} is not available in this session.`);
  }

  /** The action as it was at the session’s begin; null for what is none. */
  async #actionOf(session: string, called: string): Promise<SessionAction | null> {
    const name = actionNamed(called);
    if (name === undefined) return null;
    const { actions } = await this.log.settings(session);
    const action = actions.find((one) => one.name === name);
    if (action) return action;
    throw new AppError('forbidden', `The action ${name} is not available in this session.`);
  }
}
