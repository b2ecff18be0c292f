import { Injectable } from '@nestjs/common';
import {
  AppError,
  type importRequest,
  type SessionSummary,
  type TranscriptFile,
} from '@belay/protocol';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import type { AgentWithTranscripts } from '../agents/agent-entry.js';
import { conversationFile } from '../agents/conversation-file.js';
import { importedLog } from '../agents/imported-events.js';
import { SessionAgents } from '../agents/session-agents.js';
import { EventLog } from '../logs/event-log.js';
import { SessionCreation } from './session-creation.js';

/** Moves conversations between sessions and agents on other machines. */
@Injectable()
export class Transcripts {
  constructor(
    private readonly log: EventLog,
    private readonly agents: SessionAgents,
    private readonly creation: SessionCreation,
  ) {}

  /**
   * Creates a session whose log begins with a transcript; the same agent continues it unless the request names another.
   * Throws `invalid_input` for a file without a conversation.
   */
  async import(
    { from, transcript, message, model, ...wanted }: z.output<typeof importRequest>,
    caller: Caller,
  ): Promise<SessionSummary> {
    const entries = from === undefined ? this.agents.withTranscripts : [this.#entry(from)];
    const [found] = entries.flatMap((entry) => {
      const read = entry.transcripts.format.read(transcript);
      return read.items.some(({ kind }) => kind !== 'user') ? { entry, read } : [];
    });
    if (!found) {
      const titles = entries.map(({ title }) => title).join(' or ');
      const message = `The file is not a transcript of ${titles}, or the agent has said nothing in it.`;
      throw new AppError('invalid_input', message);
    }
    const { task, events } = importedLog(found.read, found.entry);
    const agent = wanted.agent ?? { name: found.entry.name };
    const settings = { ...wanted, agent, task, images: [] };
    const named = model ?? (await this.creation.readyModel());
    return this.creation.create({ ...settings, model: named }, caller, undefined, {
      earlier: events,
      message,
    });
  }

  /** The conversation of a session for an agent in this folder of another machine. */
  async export(
    session: string,
    { format, cwd }: { format: string; cwd: string },
  ): Promise<TranscriptFile> {
    const entry = this.#entry(format);
    const events = await this.log.read(session, { after: 0 });
    const file = conversationFile(events, entry, cwd);
    if (file) return file;
    throw new AppError('conflict', 'The agent has not said anything yet. Export it later.');
  }

  #entry(name: string): AgentWithTranscripts {
    const found = this.agents.withTranscripts.find((entry) => entry.name === name);
    if (found) return found;
    const known = this.agents.withTranscripts.map((one) => one.name).join(' and ');
    throw new AppError(
      'invalid_input',
      `Belay does not know the transcripts of ${name}, only those of ${known}.`,
    );
  }
}
