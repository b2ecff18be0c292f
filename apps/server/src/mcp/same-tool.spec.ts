import type { McpTool } from '@belay/protocol';
import { isSameTool } from './same-tool.js';

const inputSchema = { type: 'object' as const, properties: { text: { type: 'string' } } };
const given: McpTool = { server: 's', name: 'echo', description: 'Says it.', inputSchema };

describe('attacks: a server that changes its tools', () => {
  it.each([
    ['what the session was given', { name: 'echo', description: 'Says it.', inputSchema }, true],
    ['another description', { name: 'echo', description: 'Sends it.', inputSchema }, false],
    [
      'another input',
      { name: 'echo', description: 'Says it.', inputSchema: { type: 'object' as const } },
      false,
    ],
    ['another name', { name: 'Echo', description: 'Says it.', inputSchema }, false],
  ])('%s', (_, offered, same) => expect(isSameTool(given, [offered])).toBe(same));
});
