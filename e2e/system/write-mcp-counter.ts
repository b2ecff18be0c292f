import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes a program to install that is an MCP server, `counter`; its tool `look` reports its user and folder. */
export function writeMcpCounter(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'server.mjs'), program);
}

const manifest = {
  kind: 'mcp',
  name_for_human: 'Counter',
  name_for_model: 'counter',
  description_for_human: 'Looks around.',
  description_for_model: 'Looks around.',
  command: ['node', 'server.mjs'],
};

/** Without packages. */
const program = `
import { createInterface } from 'node:readline';
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'counter', version: '1' },
  }),
  'tools/list': () => ({
    tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
  }),
  'tools/call': () => ({
    content: [{ type: 'text', text: 'seen as ' + process.getuid() + ', of ' + process.cwd() }],
  }),
};
for await (const line of createInterface(process.stdin)) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined)
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }));
}
`;
