import type { KnownFile } from './known-file.js';

/** The call that a handler of an operation serves. */
export interface CallContext {
  /** The call’s id in the log. */
  readonly id: string;
  readonly source: 'agent' | 'user';
  /** What the model has seen of files, by path; absent for a user. */
  readonly known?: ReadonlyMap<string, KnownFile>;
  /** Aborted when the call is cancelled or the session stops. */
  readonly signal: AbortSignal;
  /** Aborted when the user has sent an immediate message: a call that only waits returns its output so far. */
  readonly userWrote?: AbortSignal;
}
