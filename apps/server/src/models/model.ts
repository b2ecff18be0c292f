import type { McpTool, ModelReply, ModelRequest, SessionAction } from '@belay/protocol';

/** One language model behind the gateway. */
export interface Model {
  /**
   * Calls the model once. Throws `ModelFailure` when the provider fails, `AppError` when only the user can help; after
   * `signal` has aborted, any error.
   */
  generate(request: ModelRequest, call: GenerateOptions): Promise<ModelOutput>;
}

export interface GenerateOptions {
  session: string;
  /** Operations of the request that are tools of MCP servers. */
  tools: readonly McpTool[];
  /** Operations of the request that are installed actions. */
  actions: readonly SessionAction[];
  signal: AbortSignal;
  /** Called with text of the reply as it arrives; a failed attempt may leave text behind. */
  delta(kind: 'text' | 'reasoning', text: string): void;
  blob(id: string): Promise<{ type: string; bytes: Uint8Array }>;
}

export interface ModelOutput extends Omit<ModelReply, 'usage'> {
  usage: TokenUsage;
}

export interface TokenUsage {
  /** The whole prompt, including cached parts. */
  input: number;
  /** Read from the provider's cache. */
  cached: number;
  /** Written into the provider's cache. */
  cacheWrite: number;
  /** Those of them that the cache keeps for an hour. */
  cacheWriteHour?: number;
  output: number;
  /** Zero when the call is free, whatever the price table says. */
  dollars?: number;
}

/**
 * `retry`: may be temporary; `overflow`: the prompt is too long; `fatal`: would fail again.
 */
export type FailureKind = 'retry' | 'overflow' | 'fatal';

export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';

  constructor(
    readonly kind: FailureKind,
    /** One sentence for the user, without keys. */
    message: string,
    /** The delay that the provider asked for. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}
