import type { SavedTransport } from './mcp-config.js';
import { McpFailure } from './mcp-failure.js';
import { programFailure } from './program-failure.js';

const program = (command: string): SavedTransport & { type: 'stdio' } => ({
  type: 'stdio',
  command,
  args: [],
  env: {},
  host: false,
  image: null,
  folder: null,
  hosts: [],
});
const closed = new McpFailure('closed', 'closed the connection.');

it.each([
  ['npx', {}, /closed the connection\. .* so npx can download nothing: .*"host": true/],
  ['/usr/bin/uvx', { code: 1 }, /so uvx can download nothing/],
  ['server', { code: 1 }, /closed the connection\. It runs in a container without a network/],
  ['uvx', { code: 127 }, /^cannot be started: uvx cannot be run .*Let pip fetch uv first/],
  ['server', { code: 127 }, /^cannot be started: server cannot be run in the image of sandboxes\./],
  ['server', { code: 137, outOfMemory: true }, /^ran out of the memory/],
])('of %s, which ended as %j, says what to do', (command, end, sentence) => {
  expect(programFailure(closed, program(command), end).message).toMatch(sentence);
});

it('leaves failures alone that have nothing to do with the container', () => {
  const away = new McpFailure('unreachable', 'cannot be started: Docker does not respond.');
  expect(programFailure(away, program('npx'), {})).toBe(away);
});
