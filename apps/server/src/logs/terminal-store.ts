/** Which terminal of which session. */
export interface TerminalPlace {
  session: string;
  terminal: string;
}

export interface TerminalPiece extends TerminalPlace {
  /** Where it begins: the size so far. */
  offset: number;
  /** Its first bytes. The rest is not kept and is read as zeros. */
  kept: Uint8Array;
  length: number;
}

export interface BeginOptions {
  /** Whether the session is not created yet, so that nobody else can write for it. */
  isNew?: boolean;
}

/** Where the output of terminals is stored, as bytes by their offset. The names are checked, and one call appends to a terminal at a time. */
export abstract class TerminalStore {
  /** The number of bytes so far; 0 for a terminal that there is not. */
  abstract size(place: TerminalPlace): Promise<number>;
  /** Makes this server the terminal’s writer, and returns the size. Throws `unavailable` when another server is that. */
  abstract begin(place: TerminalPlace, options?: BeginOptions): Promise<number>;
  /**
   * Resolves once the piece is stored. Rejects with the error of the storage, and with `unavailable` when another server
   * has become the writer; then has changed nothing.
   */
  abstract append(piece: TerminalPiece): Promise<void>;
  /** The bytes from `from` up to, but not including, `to`; fewer if the terminal is shorter. */
  abstract read(place: TerminalPlace, from: number, to: number): Promise<Buffer>;
  /** The terminals of a session, in any order. */
  abstract list(session: string): Promise<string[]>;
  /** The bytes of storage that the terminals of a session need. */
  abstract used(session: string): Promise<number>;
  abstract remove(session: string): Promise<void>;
}
