import type { Caller } from '../access/caller.js';
import { assertMayNameHost } from '../access/assert-may-name-host.js';
import { parseModelName } from './model-name.js';

/** Throws `forbidden` for a model that is a file of the host, `invalid_input` for a malformed name. */
export function assertMayNameModel(caller: Caller, name: string): void {
  const { kind } = parseModelName(name);
  if (kind === 'provider' || kind === 'example') return;
  assertMayNameHost(caller, {
    use: 'name a file of the server’s machine as the model',
    remedy: 'use PROVIDER:MODEL or scripted:example:NAME',
  });
}
