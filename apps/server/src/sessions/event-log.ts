import { Injectable } from '@nestjs/common';
import {
  AppError,
  type AgentEvent,
  type Event,
  type NewEvent,
  type SessionSettings,
  type SessionSummary,
} from '@belay/protocol';

export type SessionListener = (events: Event[]) => void;
export type FleetListener = (session: string, events: Event[], summary: SessionSummary) => void;

@Injectable()
export class EventLog {
  /** Stores events in order in one transaction, folds the summary, publishes after the commit. */
  append(session: string, events: NewEvent[]): Promise<Event[]> {
    throw new AppError('internal', `Not yet: ${session} ${events.length}`);
  }

  /** Appends what an agent wrote, once each by `n`; a stale epoch or a gap in `n` is a `conflict`. */
  appendFromAgent(session: string, epoch: number, events: AgentEvent[]): Promise<number[]> {
    throw new AppError('internal', `Not yet: ${session} ${epoch} ${events.length}`);
  }

  read(session: string, range: { after: number; limit?: number }): Promise<Event[]> {
    throw new AppError('internal', `Not yet: ${session} ${range.after}`);
  }

  lastSeq(session: string): Promise<number> {
    throw new AppError('internal', `Not yet: ${session}`);
  }

  /** The `n` of the last event stored from the agent of this epoch. */
  storedN(session: string, epoch: number): Promise<number> {
    throw new AppError('internal', `Not yet: ${session} ${epoch}`);
  }

  /** The session's summary as folded from its log; `not_found` when there is no such session. */
  summary(session: string): Promise<SessionSummary> {
    throw new AppError('internal', `Not yet: ${session}`);
  }

  /** What the session was started with, changes since then included. */
  settings(session: string): Promise<SessionSettings> {
    throw new AppError('internal', `Not yet: ${session}`);
  }

  /** Counts the sandboxes that the session has had; only the newest may write. */
  epoch(session: string): Promise<number> {
    throw new AppError('internal', `Not yet: ${session}`);
  }

  /** In order, after the commit; no replay. Answers what ends the subscription. */
  subscribe(session: string, listener: SessionListener): () => void {
    throw new AppError('internal', `Not yet: ${session} ${listener.name}`);
  }

  subscribeAll(listener: FleetListener): () => void {
    throw new AppError('internal', `Not yet: ${listener.name}`);
  }
}
