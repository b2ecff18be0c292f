/** A call of a tool in a reply, as far as it was read. */
export interface HeldCall {
  /** Its place in the reply. */
  readonly key: string;
  /** The provider’s id; empty if the format has none. */
  id: string;
  name: string;
  /** The input as the provider wrote it, which is not necessarily JSON. */
  input: string;
  /** Its whole item as JSON text, in a format whose calls have several shapes and if it is not the usual one. */
  item?: string;
  isWhole: boolean;
}

/** A call that is made up. */
export interface StandIn {
  tool: string;
  /** A text for a tool whose input is none in JSON, which only OpenAI’s Responses have. */
  input: Readonly<Record<string, unknown>> | string;
}

/** Why a call may not run, and the call that tells the program so; null if it has no tool for that. */
export interface Refusal {
  text: string;
  standIn: StandIn | null;
}

/** The refused calls of a reply, by their keys. */
export interface Refusals {
  readonly refused: ReadonlyMap<string, Refusal>;
  /** Whether the program still gets a call, the stand-ins among them. */
  readonly leavesCalls: boolean;
}

/** A frame of a stream that is kept back. */
export interface HeldFrame {
  bytes: Buffer;
  message: unknown;
  /** The calls that it is part of. */
  keys: readonly string[];
}

/** Reads the calls of one stream. */
export interface CallReader {
  readonly calls: ReadonlyMap<string, HeldCall>;
  /** Reads a frame, and returns the keys of the calls that it is part of. */
  read(message: unknown): string[];
}

/** How the calls of a format are read, and replaced by stand-ins under the same ids. */
export interface CallFormat {
  reader(): CallReader;
  /** The frames with stand-ins. Those of other calls keep their bytes. */
  replaced(frames: readonly HeldFrame[], refusals: Refusals): Buffer[];
  /** The calls of a whole body. */
  callsIn(body: unknown): HeldCall[];
  /** A whole body with stand-ins. */
  replacedBody(body: unknown, refusals: Refusals): unknown;
}

/** A call that is complete from the start. */
export const wholeCall = (call: Omit<HeldCall, 'isWhole'>): HeldCall => ({
  ...call,
  isWhole: true,
});
