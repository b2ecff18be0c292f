import { AppError, type ApiName } from '@belay/protocol';
import { may, type Caller } from './caller.js';

/** The APIs whose requests are written by a language model, which whatever it reads may instruct. */
const apisOfModels: ReadonlySet<ApiName | undefined> = new Set<ApiName>(['mcp', 'gpt']);

/** Something of the host that a request names, for the sentence of a refusal. */
interface HostUse {
  /** After “may”, such as `share folders of the host`. */
  use: string;
  /** What the caller can do without it, such as ``leave out `mounts` ``. */
  remedy: string;
}

/**
 * Whether a caller’s request may name something of the host: a file, a folder, or a machine without containers.
 * Everything else that a request names is resolved within what its caller owns.
 */
export function mayNameHost(caller: Caller): boolean {
  return may(caller, 'admin') && !apisOfModels.has(caller.via?.api);
}

/** Throws `forbidden`, with a sentence. */
export function assertMayNameHost(caller: Caller, { use, remedy }: HostUse): void {
  if (mayNameHost(caller)) return;
  const sentence = may(caller, 'admin')
    ? `Requests over MCP and those of GPTs may not ${use}: ${remedy}, or use the dashboard or the command line.`
    : `Only an admin may ${use}: ${remedy}, or use the server’s main token.`;
  throw new AppError('forbidden', sentence);
}
