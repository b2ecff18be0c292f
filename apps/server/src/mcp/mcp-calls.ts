import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  AppError,
  isFact,
  mcpOperationName,
  mcpSubject,
  mcpToolNamed,
  type ApprovalRequest,
  type Event,
  type McpOutput,
} from '@belay/protocol';
import { ApprovalService } from '../approvals/approval.service.js';
import { BlobStore } from '../logs/blob-store.js';
import { EventLog } from '../logs/event-log.js';
import { SessionStore } from '../logs/session.store.js';
import { outputOf } from './mcp-result.js';
import { McpServers } from './mcp-servers.js';

/**
 * Calls of MCP tools, for agents. A sandbox is not believed: what runs is the call as the log has it, which is what
 * a person was asked about, and it runs once.
 */
@Injectable()
export class McpCalls implements OnModuleInit {
  private readonly started = Date.now();
  /** Calls that were made and have no result yet. */
  private readonly made = new Set<string>();

  constructor(
    private readonly log: EventLog,
    private readonly store: SessionStore,
    private readonly blobs: BlobStore,
    private readonly approvals: ApprovalService,
    private readonly servers: McpServers,
  ) {}

  onModuleInit(): void {
    this.log.subscribeAll((session, events) => {
      for (const event of events)
        if (isFact(event, 'result')) this.made.delete(`${session} ${event.id}`);
    });
  }

  /** The question about a logged call. Throws `not_found` when the log has no such call, `forbidden` for a false one. */
  async question(session: string, id: string): Promise<ApprovalRequest> {
    const [call] = await this.events(session, id);
    return {
      id,
      operation: call.action,
      input: call.args,
      risk: 'network',
      subject: mcpSubject(call.args),
    };
  }

  /** Runs a logged call once it is approved. Throws what `McpServers.call` throws, `rejected`, `conflict`, `cancelled`. */
  async run(session: string, id: string, signal: AbortSignal): Promise<McpOutput> {
    const [call, ...later] = await this.events(session, id);
    const tool = await this.toolOf(session, call.action);
    if (later.some((event) => isFact(event, 'result'))) {
      throw new AppError('conflict', 'This call has its result already.');
    }
    this.refuseRepetition(call, later);
    const request = await this.question(session, id);
    const { verdict, reason } = await this.approvals.request(session, request, signal);
    if (verdict === 'rejected') {
      throw new AppError(
        'rejected',
        `The person did not allow this${reason ? `: ${reason}` : '.'}`,
      );
    }
    const key = `${session} ${id}`;
    if (this.made.has(key)) throw new AppError('conflict', 'This call was made already.');
    this.made.add(key);
    const result = await this.servers.call(tool, call.args, signal);
    return outputOf(result, (bytes, type) => this.blobs.put(bytes, type));
  }

  /** The call comes first: an approval that was given before it was for something else. */
  private async events(session: string, id: string): Promise<[Event, ...Event[]]> {
    const [call, ...later] = await this.store.ofCall(session, id);
    if (!call) throw new AppError('not_found', `The log has no call ${id}.`);
    const again = later.some(({ action }) => mcpToolNamed(action));
    if (!mcpToolNamed(call.action) || call.source !== 'agent' || again) {
      throw new AppError('forbidden', `${id} is not one call of an MCP tool by the agent.`);
    }
    return [call, ...later];
  }

  private async toolOf(session: string, action: string) {
    const { mcp } = await this.log.settings(session);
    const tool = mcp.find((one) => mcpOperationName(one) === action);
    if (tool) return tool;
    throw new AppError('forbidden', `This session was not given ${action}.`);
  }

  /** One that may have run before this server started is not run again: it may have had its effect. */
  private refuseRepetition(call: Event, later: readonly Event[]): void {
    const waits = later.some((event) => isFact(event, 'approval'));
    const approved = later.findLast((event) => isFact(event, 'approve'));
    const since = approved ?? (waits ? undefined : call);
    if (!since || new Date(since.time).getTime() >= this.started) return;
    throw new AppError(
      'cancelled',
      'The server was restarted while this ran: it may have had its effect. Find out before you call it again.',
    );
  }
}
