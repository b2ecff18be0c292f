import { itLong, until } from '@belay/testing';
import type { SavedTransport } from './mcp-config.js';
import { McpLink } from './mcp-link.js';
import { overStdio, ToolsServer } from './testing/tools-server.js';

const links: McpLink[] = [];
function linkTo(transport: SavedTransport): McpLink {
  const config = { name: 'tools', transport, enabled: true, tools: null };
  const link = new McpLink(config, { fetch, programs: null as never });
  links.push(link);
  return link;
}
const never = new AbortController().signal;
const textOf = async (link: McpLink, tool: string, input = {}, signal = never) => {
  const { content } = await link.call(tool, input, signal);
  return content.map((part) => (part.type === 'text' ? part.text : part.type)).join(' ');
};
const seen = async (link: McpLink) =>
  JSON.parse(await textOf(link, 'seen')) as {
    counts: Record<string, number>;
    cancelled: string[];
  };

const http = new ToolsServer();
beforeAll(() => http.start());
afterEach(() => Promise.all(links.splice(0).map((link) => link.close())));
afterAll(() => http.kill());

describe.each([
  ['over streamable HTTP', () => http.transport()],
  ['over the older HTTP and SSE', () => http.transport({}, '/sse')],
  ['over standard input and output', () => overStdio()],
])('a server %s', (_, transport) => {
  it('lists its tools and runs them', async () => {
    const link = linkTo(transport());
    await link.connect();
    expect(link).toMatchObject({ state: 'connected', error: null });
    expect(link.tools.find(({ name }) => name === 'echo')).toMatchObject({
      title: 'Echo',
      description: 'Says it again.',
      inputSchema: { type: 'object', required: ['text'] },
      annotations: { readOnlyHint: true },
    });
    expect(await textOf(link, 'echo', { text: 'hello' })).toBe('you said hello');
    expect(await textOf(link, 'picture')).toBe('Here it is: image');
  });

  it('receives that a call is not wanted any more', async () => {
    const link = linkTo(transport());
    const abort = new AbortController();
    const before = (await seen(link)).cancelled.length;
    const call = textOf(link, 'slow', {}, abort.signal);
    await until('the call', async () => (await seen(link)).counts['slow']);
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await until('the end', async () => (await seen(link)).cancelled.length > before);
  });

  it('that announces another tool has its list updated', async () => {
    const link = linkTo(transport());
    await link.connect();
    const has = () => link.tools.some(({ name }) => name === 'grown');
    expect(has()).toBe(false);
    await textOf(link, 'grow');
    await until('the new tool', has);
  });

  it('returns an error for a wrong input, and stays connected', async () => {
    const link = linkTo(transport());
    const wrong = await link.call('echo', { text: 7 }, never);
    expect(wrong.isError).toBe(true);
    expect(await textOf(link, 'echo', { text: 'still there' })).toBe('you said still there');
  });
});

it('sends its headers, and is given none of the variables of this server but a few plain ones', async () => {
  process.env['BELAY_TEST_KEY'] = 'never handed on';
  const secret = linkTo(http.transport({ 'X-Secret': 'in the header' }));
  expect(await textOf(secret, 'secret')).toBe('none in the header');
  const stdio = linkTo(overStdio({ MCP_SECRET: 'in a variable' }));
  expect(await textOf(stdio, 'secret')).toBe('in a variable none');
  const names = (await textOf(stdio, 'environment')).split(' ');
  expect(names).toEqual(expect.arrayContaining(['MCP_SECRET', 'PATH']));
  expect(names).not.toContain('BELAY_TEST_KEY');
  delete process.env['BELAY_TEST_KEY'];
});

describe('a server that fails', () => {
  it.each<[string, () => SavedTransport, RegExp]>([
    [
      'is not there',
      () => ({ type: 'http', url: 'http://127.0.0.1:2/mcp', headers: {} }),
      /^The MCP server tools cannot be reached: [A-Z]+\.$/,
    ],
    [
      'is at another address',
      () => ({ ...http.transport(), url: http.transport().url + 'x' }),
      /^The MCP server tools has nothing at this address \(404\)/,
    ],
    [
      'has a command that is not there',
      () => ({ ...overStdio(), command: 'no-such-mcp', args: [] }),
      /cannot be started: its command does not exist on the server's host\.$/,
    ],
    [
      'ends at once',
      () => ({
        ...overStdio(),
        args: ['-e', "console.error('bad token hush-hush'); process.exit(1)"],
        env: { TOKEN: 'hush-hush' },
      }),
      /^The MCP server tools closed the connection\. Its last output: bad token …$/,
    ],
  ])('because it %s is reported in one sentence', async (_, transport, sentence) => {
    const link = linkTo(transport());
    await expect(link.connect()).rejects.toMatchObject({ code: 'unavailable' });
    expect(link.state).toBe('failed');
    expect(link.error).toMatch(sentence);
  });

  it('or refuses the token, names its headers', async () => {
    const closed = await new ToolsServer().start({ MCP_TOKEN: 'right' });
    try {
      const wrong = linkTo(closed.transport({ authorization: 'Bearer wrong' }));
      await expect(wrong.connect()).rejects.toThrow('refused the request (401): check its headers');
      const right = linkTo(closed.transport({ authorization: 'Bearer right' }));
      await right.connect();
    } finally {
      await closed.kill();
    }
  });

  it('amid a call fails that call, and is used again once it is back', async () => {
    const server = await new ToolsServer().start();
    const link = linkTo(server.transport());
    try {
      const failure = textOf(link, 'slow').catch((error: unknown) => error);
      await until('the call', async () => (await seen(link)).counts['slow']);
      await server.kill();
      expect(await failure).toMatchObject({ code: 'unavailable' });
      await until('the state', () => link.state === 'failed');
      await server.start();
      await until('the new connection', () => link.state === 'connected');
      expect(await textOf(link, 'echo', { text: 'back' })).toBe('you said back');
    } finally {
      await server.kill();
    }
  });

  itLong(
    'and was started anew unnoticed is connected anew by the next call, which runs once',
    async () => {
      const server = await new ToolsServer().start();
      const link = linkTo(server.transport());
      try {
        await link.connect();
        await server.kill();
        await server.start();
        expect(await textOf(link, 'echo', { text: 'again' })).toBe('you said again');
        expect((await seen(link)).counts['echo']).toBe(1);
      } finally {
        await server.kill();
      }
    },
  );

  itLong('as a process that ends is started again', async () => {
    const link = linkTo(overStdio());
    await expect(textOf(link, 'exit')).rejects.toThrow(
      'The MCP server tools closed the connection. Its last output: out of cheese',
    );
    await until('the new process', () => link.state === 'connected');
    expect(await textOf(link, 'echo', { text: 'back' })).toBe('you said back');
  });
});
