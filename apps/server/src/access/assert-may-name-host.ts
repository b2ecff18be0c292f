import { AppError } from '@belay/protocol';
import { may, mayNameHost, type Caller } from './caller.js';

/** Something of the host that a request names, for the sentence of a refusal. */
interface HostUse {
  /** After “may”, such as `share folders of the host`. */
  use: string;
  /** What the caller can do without it, such as ``leave out `mounts` ``. */
  remedy: string;
}

/** Throws `forbidden`, with a sentence, unless the caller’s request may name something of the host. */
export function assertMayNameHost(caller: Caller, { use, remedy }: HostUse): void {
  if (mayNameHost(caller)) return;
  const sentence = may(caller, 'admin')
    ? `Requests over MCP and those of GPTs may not ${use}: ${remedy}, or use the dashboard or the command line.`
    : `Only an admin may ${use}: ${remedy}, or use the server’s main token.`;
  throw new AppError('forbidden', sentence);
}
