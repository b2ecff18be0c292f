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

/** A call as it is in the log, which no later message from its sandbox can change. */
export interface LoggedCall {
  id: string;
  source: 'agent' | 'user';
  operation: Operation;
  /** The input as parsed by the operation’s schema. */
  input: Record<string, unknown>;
  /** The session’s MCP tool, if the call is one of an MCP server. */
  tool: McpTool | null;
  /** The session’s action, if the call is one of an action. */
  action: SessionAction | null;
  /** The call’s event and later events about it; empty for a user’s call that is not logged, or not yet. */
  events: readonly Event[];
}

/** Reads calls from the log. An agent names a call by its id and states nothing else about it. */
@Injectable()
export class LoggedCalls {
  constructor(
    private readonly log: EventLog,
    private readonly store: SessionsStore,
  ) {}

  /**
   * The unfinished call with this id. Throws `not_found` if it is not in the log, `conflict` if it has a result or an
   * earlier agent began it, `forbidden` if its agent may not call the operation.
   */
  async open(session: string, id: string): Promise<LoggedCall> {
    const { events, epoch } = await this.store.ofCall(session, id);
    const [event, again] = events.filter(({ action }) => isCall(action));
    const known = event && calledOperation(event.action);
    const unlogged = events.length === 0 && this.log.userCalls.find(session, id);
    if (unlogged) {
      const { name } = unlogged.operation;
      const tool = await this.#toolOf(session, name);
      const action = await this.#actionOf(session, name);
      return { ...unlogged, id, source: 'user', tool, action, events };
    }
    if (!event || !known || event.source === 'server') {
      throw new AppError('not_found', `The log has no call ${id}.`);
    }
    // An approval that precedes the call belongs to another one.
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

  /** The tool as it was at the session’s start; null for an operation. */
  async #toolOf(session: string, action: string): Promise<McpTool | null> {
    if (!mcpToolNamed(action)) return null;
    const { mcp } = await this.log.settings(session);
    const tool = mcp.find((one) => mcpOperationName(one) === action);
    if (tool) return tool;
    throw new AppError('forbidden', `The tool ${action} is not available in this session.`);
  }

  /** The action as it was at the session’s start; null for anything else. */
  async #actionOf(session: string, called: string): Promise<SessionAction | null> {
    const name = actionNamed(called);
    if (name === undefined) return null;
    const { actions } = await this.log.settings(session);
    const action = actions.find((one) => one.name === name);
    if (action) return action;
    throw new AppError('forbidden', `The action ${name} is not available in this session.`);
  }
}
