import type {
  ApprovalRequest,
  ApprovalVerdict,
  Event,
  ModelReply,
  ModelRequest,
  NewEvent,
  Operation,
} from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import type { Checked } from '../dispatch.js';

/** What the loop needs of the rest of the agent. */
export interface LoopOptions {
  log: {
    readonly events: readonly Event[];
    readonly seen: { own: number; others: number };
    /** Resolves when others have written something; rejects when the signal aborts. */
    changed(signal: AbortSignal): Promise<void>;
  };
  journal: {
    append(event: NewEvent): void;
    /** Resolves when everything appended is stored and in the log. */
    flush(): Promise<void>;
  };
  /** What the model may call. */
  offered: readonly Operation[];
  /** Throws limit_reached, context_overflow, model_failed, cancelled. */
  generate(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>;
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalVerdict>;
  /** Runs an operation; throws what its room throws. */
  perform(call: Checked, context: CallContext): Promise<unknown>;
  /** Begins to record in the history what a call changed. */
  record(call: Checked & { id: string }): void;
  /** Resolves when that is done. */
  recorded(): Promise<void>;
  /** What the model is told of the sandbox. */
  describeSandbox(): Promise<string>;
  /** Guidance that counts for these paths and is not known yet; all of the workspace's root for none. */
  guidance(
    paths: readonly string[],
    known: ReadonlyMap<string, string>,
  ): Promise<{ path: string; text: string }[]>;
  /** The address that the browser shows. */
  page(): string | null;
}
