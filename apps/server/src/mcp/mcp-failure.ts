/** `gone`: the connection is of no use any more, and the call was not begun. */
export type McpFailureKind = 'refused' | 'unreachable' | 'gone' | 'timeout' | 'closed' | 'failed';

export class McpFailure extends Error {
  override readonly name = 'McpFailure';

  constructor(
    readonly kind: McpFailureKind,
    /** The rest of a sentence that begins with the server’s name. */
    message: string,
  ) {
    super(message);
  }
}
