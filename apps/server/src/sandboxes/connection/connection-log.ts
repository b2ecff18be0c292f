import { Injectable } from '@nestjs/common';
import {
  AppError,
  ignoreError,
  newEvent,
  type AgentProgram,
  type StartPayload,
  type TranscriptFile,
} from '@belay/protocol';
import { conversationFile } from '../../agents/conversation-file.js';
import { SessionAgents } from '../../agents/session-agents.js';
import { EventLog } from '../../logs/event-log.js';
import { Backlog } from './backlog.js';

/** What the connection of an agent reads from the log of its session, and writes to it itself. */
@Injectable()
export class ConnectionLog {
  /** The sessions whose conversations are being written. */
  readonly #writing = new Set<string>();

  constructor(
    private readonly log: EventLog,
    private readonly agents: SessionAgents,
  ) {}

  /** The session as it is now, for an agent that has not begun. */
  async startPayload(session: string, epoch: number): Promise<StartPayload> {
    const settings = await this.log.settings(session);
    const events = await this.log.read(session, { after: 0 });
    return this.withProgram({ session, settings, events, epoch });
  }

  /** With the program of another vendor's agent, whose token is made for this start. */
  async withProgram(startPayload: StartPayload): Promise<StartPayload> {
    return { ...startPayload, program: await this.agents.program(startPayload.settings) };
  }

  /**
   * The program for the model that the session has now, with the token of an agent process. Throws `conflict` for
   * Belay's own agent.
   */
  async currentProgram(session: string, token: string): Promise<AgentProgram> {
    const program = await this.agents.program(await this.log.settings(session), token);
    if (program) return program;
    throw new AppError('conflict', 'This session has no program of another agent.');
  }

  /**
   * The conversation so far for the session’s program; null if it has no files that Belay can write. Reads the whole
   * log, so it throws `limit_reached` while it does so for the same session.
   */
  async programConversation(session: string, cwd: string): Promise<TranscriptFile | null> {
    if (this.#writing.has(session))
      throw new AppError('limit_reached', 'The conversation is already being written.');
    this.#writing.add(session);
    try {
      const { agent } = await this.log.settings(session);
      const entry = agent && this.agents.entry(agent.name);
      if (!entry?.transcripts) return null;
      return conversationFile(await this.log.read(session, { after: 0 }), entry, cwd);
    } finally {
      this.#writing.delete(session);
    }
  }

  backlog(session: string, after: number): Promise<Backlog> {
    return Backlog.open(this.log, session, after);
  }

  storedN(session: string, epoch: number): Promise<number> {
    return this.log.storedN(session, epoch);
  }

  /** Logs that the agent broke the protocol of its connection. */
  reportBreach(session: string, reason: string): void {
    const event = newEvent('server', 'breach', { args: { reason }, message: reason });
    this.log.append(session, [event]).catch(ignoreError('the server’s own log has the reason'));
  }
}
