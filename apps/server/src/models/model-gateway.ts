import { Injectable } from '@nestjs/common';
import { AppError, type ModelReply, type ModelRequest } from '@belay/protocol';
import { BlobStore } from '../sessions/blob-store.js';
import { EventLog } from '../sessions/event-log.js';
import { Live } from '../sessions/live.js';
import { ModelSettings } from './model-settings.js';

/** What the server can say of a model that a person may choose. */
export interface ModelChoice {
  name: string;
  title: string;
  ready: boolean;
  remedy: string | null;
}

/** Every call of a model goes through here: budgets, retries, usage, and the text that streams to the viewers. */
@Injectable()
export class ModelGateway {
  constructor(
    readonly events: EventLog,
    readonly live: Live,
    readonly blobs: BlobStore,
    readonly settings: ModelSettings,
  ) {}

  /**
   * Calls the session's model. Throws `AppError`: limit_reached before a call that a budget forbids,
   * context_overflow, model_failed after the last try, cancelled when `signal` aborts.
   */
  async generate(
    _session: string,
    _request: ModelRequest,
    _options: { signal: AbortSignal },
  ): Promise<ModelReply> {
    throw new AppError('unavailable', 'Models are not there yet.');
  }

  /** Throws one sentence (invalid_input, not_found, unavailable) when a session could not use this model. */
  async check(_model: string): Promise<void> {}

  /** The models that a person may choose, those that can be called now first. */
  async choices(): Promise<ModelChoice[]> {
    return [];
  }
}
