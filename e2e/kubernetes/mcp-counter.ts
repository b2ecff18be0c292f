import { isEvent, type Event, type NewMcpServer } from '@belay/protocol';
import { script, start, type BelayServer, type Followed } from '@belay/testkit';
import { until } from '@belay/testing';

/** A call of `slow` never ends; `count` says how many there were in this process. */
const program = `
  let calls = 0;
  const say = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  const tools = ['slow', 'count'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  const answer = ({ id, method, params }) => {
    if (method === 'initialize') {
      const { protocolVersion } = params;
      const serverInfo = { name: 'counter', version: '1' };
      say(id, { protocolVersion, capabilities: { tools: {} }, serverInfo });
    } else if (method === 'tools/list') say(id, { tools });
    else if (method === 'tools/call' && params.name === 'slow') calls += 1;
    else if (method === 'tools/call') say(id, { content: [{ type: 'text', text: 'calls: ' + calls }] });
    else if (id !== undefined) say(id, {});
  };
  const lines = require('node:readline').createInterface({ input: process.stdin });
  lines.on('line', (line) => answer(JSON.parse(line)));
`;

/** An MCP server in a pod of each server that uses it. */
export const mcpCounter: NewMcpServer = {
  name: 'counter',
  transport: { type: 'stdio', command: 'node', args: ['-e', program] },
};

const slow = 'mcp.counter.slow';
const count = 'mcp.counter.count';

/** A session whose call of `slow` has arrived, and which asks for the count once that call has failed. */
export async function beginSlowCall(server: BelayServer, folder = server.data): Promise<Followed> {
  const model = script(folder, [
    { calls: [{ operation: slow, input: {} }] },
    { calls: [{ operation: count, input: {} }] },
    { finish: 'Done.' },
  ]);
  const session = await start(server, { task: 'Call it', model });
  await session.event(({ action }) => action === slow);
  await until('it is called', async () => (await slowCalls(server, session)) > 0);
  return session;
}

/** How many calls of `slow` there were in the process that this session’s calls go to now. */
export async function slowCalls(server: BelayServer, { id }: Followed): Promise<number> {
  return countIn(await server.client.sessions.callGiven(id, count, {}));
}

export const isSlowResult = (event: Event): boolean =>
  isEvent(event, 'result') && event.args.operation === slow;

/** What the session’s own call of `count` has returned. */
export async function countSeenBy(session: Followed): Promise<number> {
  const isOwn = (event: Event): boolean =>
    event.source === 'agent' && isEvent(event, 'result') && event.args.operation === count;
  return countIn((await session.event(isOwn)).args);
}

const countIn = (output: unknown): number =>
  Number(/calls: (\d+)/.exec(JSON.stringify(output))?.[1]);
