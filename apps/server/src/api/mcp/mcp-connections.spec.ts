import { newEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { TestServer } from '../../testing/server.js';

const server = new TestServer();
beforeAll(() => server.start());
afterAll(() => server.close());

it('is for clients of the server before, which do not initialize again', async () => {
  const session = await server.session();
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
    requestInit: { headers: { authorization: `Bearer ${server.token}` } },
    // Behind an address that stays when the server is restarted.
    fetch: (url, init) => fetch(new URL(new URL(url).pathname, server.url), init),
  });
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept',
    content: { decision: 'reject', reason: 'Not now.' },
  }));
  await client.connect(transport as Parameters<Client['connect']>[0]);
  const call = (name: string, input: object) => client.callTool({ name, arguments: { ...input } });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-session-id': transport.sessionId ?? '',
  };
  const asked = async (token = server.token): Promise<number> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    return (await server.fetch('/mcp', { method: 'POST', body, headers, token })).status;
  };
  await server.restart();
  expect(await asked(server.viewerToken)).toBe(404);
  const answers = [client.listTools(), call('session_status', { session })];
  expect((await Promise.all(answers)).map(({ isError }) => isError)).toEqual([
    undefined,
    undefined,
  ]);
  const waiting = call('session_wait', { session, seconds: 50 });
  const request = { id: 'q1', operation: 'terminal.run', input: {}, risk: 'execute', subject: 'x' };
  const args = { ...request, mode: 'ask', until: null } as never;
  await server.log.append(session, [
    newEvent('server', 'approval', { args, message: 'May it?', id: 'q1' }),
  ]);
  // What the client can do is known as well.
  const isRejected = async () =>
    (await server.log.read(session, { after: 0 })).some(({ action }) => action === 'reject');
  await until('its user has answered', isRejected);
  await server.sandboxes.finishes(server.log, session);
  await waiting;
  expect(await asked()).toBe(200);
  await transport.terminateSession();
  await client.close();
  await server.restart();
  expect(await asked()).toBe(404);
});
