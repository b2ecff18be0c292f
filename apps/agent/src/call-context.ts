/** What the handler of an operation is told about the call it serves. */
export interface CallContext {
  /** The call's id in the log. */
  readonly id: string;
  readonly source: 'agent' | 'user';
  /** Aborted when the call is cancelled or the session stops. */
  readonly signal: AbortSignal;
}
