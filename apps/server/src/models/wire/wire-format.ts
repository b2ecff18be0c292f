import type { WireFormatName } from '@belay/protocol';
import type { TokenUsage } from '../model.js';
import type { RequestFields } from './json-fields.js';

/** What the server needs to know of a request before it passes it on. */
export interface WireRequest {
  /** The models that it names: the one it is for, then others that the provider may use instead. */
  models: readonly string[];
  /** Whether the reply is a stream of events. */
  isStream: boolean;
  /** The longest reply that it allows, in tokens. */
  maxOutput: number | null;
  messages: number;
  /** The names of the tools that the client runs. */
  tools: readonly string[];
  /** The tools that run at the provider, where neither the sandbox nor an approval of a call holds them. */
  hosted: readonly string[];
}

/** One frame of a stream, or a whole body, as parsed JSON. */
export type ReplyMessage = unknown;

/** One format in which programs call models: how its requests, replies and errors are read and written. */
export interface WireFormat {
  readonly name: WireFormatName;
  /**
   * Reads a request. `inPath` is what its path says, in the format whose paths name the model. Throws `invalid_input`
   * for a request that is never passed on.
   */
  read(body: RequestFields, inPath: { model?: string | undefined; isStream: boolean }): WireRequest;
  /** The usage that a message reports, as the provider writes it; later ones add to earlier ones. */
  usageIn(message: ReplyMessage): Record<string, unknown> | undefined;
  tokensOf(usage: Record<string, unknown>): TokenUsage;
  /** The number of characters that a message of a stream adds to the reply. */
  written(message: ReplyMessage): number;
  /** The body of an error response. */
  error(status: number, sentence: string): object;
  /** The last frames of a stream that fails after its beginning; its client does not try again. */
  streamError(sentence: string): string;
}

/** A server-sent event with JSON. */
export const dataFrame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

/** A server-sent event with its type as name. */
export const namedFrame = (value: { type: string; [field: string]: unknown }): string =>
  `event: ${value.type}\n${dataFrame(value)}`;
