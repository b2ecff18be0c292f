import type { McpTool, ModelReply, ModelRequest, SessionAction } from '@belay/protocol';

/** One language model behind the gateway. */
export interface Model {
  /**
   * Calls the model once. Throws `ModelFailure` when the provider fails, `AppError` when nothing but the
   * user can help; when `signal` aborts, anything.
   */
  generate(request: ModelRequest, call: GenerateOptions): Promise<ModelOutput>;
}

export interface GenerateOptions {
  session: string;
  /** Those of the request's operations that are tools of MCP servers. */
  tools: readonly McpTool[];
  /** Those that are installed actions. */
  actions: readonly SessionAction[];
  signal: AbortSignal;
  /** Text of the reply as it comes; a failed try may leave some behind. */
  delta(kind: 'text' | 'reasoning', text: string): void;
  blob(id: string): Promise<{ type: string; bytes: Uint8Array }>;
}

export interface ModelOutput extends Omit<ModelReply, 'usage'> {
  usage: TokenUsage;
}

export interface TokenUsage {
  /** All of the prompt, cached parts included. */
  input: number;
  /** Read from the provider's cache. */
  cached: number;
  /** Written into the provider's cache. */
  cacheWrite: number;
  output: number;
  /** Zero when the call is free, whatever the price table says. */
  dollars?: number;
}

/** `retry`: may pass; `overflow`: the prompt is too long; `empty`: the model said nothing; `fatal`: the same again. */
export type FailureKind = 'retry' | 'overflow' | 'empty' | 'fatal';

export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';

  constructor(
    readonly kind: FailureKind,
    /** One sentence for the user, without keys. */
    message: string,
    /** What the provider asked to wait. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}
