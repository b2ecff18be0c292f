import { basename } from 'node:path';
import type { ProgramEnd } from '@belay/containers';
import type { SavedTransport } from './mcp-config.js';
import { McpFailure } from './mcp-failure.js';

/** Commands that download what they run. */
const downloaders = ['bunx', 'npm', 'npx', 'pipx', 'pnpm', 'pnpx', 'uv', 'uvx', 'yarn'];
const unconfined = 'run it on the server’s machine ("host": true)';

/**
 * Why a program in a container could not be connected, with a remedy: from its failure, and from how the container
 * ended. A program in a container is recognized by its `host`.
 */
export function programFailure(
  failure: McpFailure,
  { command, image, hosts, installed }: SavedTransport & { type: 'stdio' },
  end: ProgramEnd,
): McpFailure {
  const where = image === null ? 'the image of sandboxes' : `the image ${image}`;
  if (end.outOfMemory) {
    return new McpFailure('closed', 'ran out of the memory that its container has.');
  }
  if (end.code === 127 || end.code === 126) {
    if (installed)
      return new McpFailure(
        'unreachable',
        `cannot be started: its image has no program ${command}.`,
      );
    const what = `${command} cannot be run in ${where}`;
    // Users copy these from the READMEs of Python servers.
    const isOfUv = /^uvx?$/.test(basename(command)) && image === null;
    const remedy = isOfUv
      ? 'Let pip fetch uv first, as the documentation of MCP servers shows'
      : 'Name an image or a folder that has it';
    return new McpFailure(
      'unreachable',
      `cannot be started: ${what}. ${remedy}, or ${unconfined}.`,
    );
  }
  if (failure.kind !== 'closed' && failure.kind !== 'timeout') return failure;
  if (installed) {
    const reaches = hosts.length > 0 ? `only ${hosts.join(', ')}` : 'no hosts';
    const remedy = `It can reach ${reaches}: its manifest declares what it needs.`;
    return new McpFailure(failure.kind, `${failure.message} ${remedy}`);
  }
  if (hosts.length > 0) {
    const only = `Its container reaches only ${hosts.join(', ')}: add what it needs to its hosts.`;
    return new McpFailure(failure.kind, `${failure.message} ${only}`);
  }
  const remedy = downloaders.includes(basename(command))
    ? `Its container has no network, so ${basename(command)} can download nothing: add the hosts of its registry to its hosts, name an image that has the program, or ${unconfined}.`
    : `It runs in a container without a network: if it needs one, add hosts, or ${unconfined}.`;
  return new McpFailure(failure.kind, `${failure.message} ${remedy}`);
}
