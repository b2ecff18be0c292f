/** The kinds of work that become spans. */
export type WorkKind = 'turn' | 'start' | 'request' | 'call' | 'approval';

/** Values that OpenTelemetry accepts for an attribute. */
export type SpanAttributes = Record<string, string | number | boolean | string[]>;

/**
 * Work that has ended, according to the log. Its identity is made of the session and the number of the event that began
 * it, so that the same log gives the same spans in any process of the server.
 */
export interface FinishedSpan {
  readonly kind: WorkKind;
  readonly session: string;
  /** Names the span within its session. */
  readonly key: string;
  /** The key of the span that it is a part of; null for the root of a trace. */
  readonly parent: string | null;
  /** The key of the root of its trace. */
  readonly root: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly begun: number;
  readonly ended: number;
  readonly attributes: SpanAttributes;
  /** A class of errors, of few values (`error.type`); null if the work succeeded. */
  readonly error: string | null;
}
