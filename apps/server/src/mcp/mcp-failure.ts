/** `gone`: the connection can no longer be used, and the call was not begun. */
export type McpFailureKind = 'refused' | 'unreachable' | 'gone' | 'timeout' | 'closed' | 'failed';

export class McpFailure extends Error {
  override readonly name = 'McpFailure';

  constructor(
    readonly kind: McpFailureKind,
    /** The rest of the sentence, which begins with the server’s name. */
    message: string,
  ) {
    super(message);
  }
}
