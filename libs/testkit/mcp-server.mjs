/**
 * An MCP server for tests, made with the SDK: over standard input and output, or with `http [port]`
 * over streamable HTTP, printing its port. `/sse` serves the older HTTP+SSE. If `MCP_TOKEN` is set,
 * HTTP requests require it.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** The number of calls of each tool, and the calls that were cancelled. */
const counts = new Map();
const cancelled = [];

const text = (value) => ({ content: [{ type: 'text', text: value }] });

/**
 * The tools by name. `run` receives the input, the call, and the server’s request headers and
 * `add`.
 */
const tools = {
  echo: {
    title: 'Echo',
    description: 'Says it again.',
    inputSchema: { text: z.string().describe('What to say.') },
    annotations: { readOnlyHint: true },
    run: ({ text: said }) => text(`you said ${said}`),
  },
  picture: {
    description: 'One red pixel.',
    run: () => ({
      content: [
        { type: 'text', text: 'Here it is:' },
        { type: 'image', data: onePixel, mimeType: 'image/png' },
      ],
    }),
  },
  fail: {
    description: 'Fails.',
    run: () => ({ ...text('the disk is on fire'), isError: true }),
  },
  long: {
    description: 'Much.',
    inputSchema: { length: z.number() },
    run: ({ length }) => text('x'.repeat(length)),
  },
  weather: {
    description: 'Structured.',
    outputSchema: { degrees: z.number() },
    run: () => ({ ...text('mild'), structuredContent: { degrees: 21 } }),
  },
  slow: {
    description: 'Never ends.',
    inputSchema: { file: z.string().optional().describe('Where it writes how it goes.') },
    run: ({ file }, { signal }) =>
      new Promise((resolve) => {
        if (file) writeFileSync(file, 'begun');
        signal.addEventListener('abort', () => {
          cancelled.push('slow');
          if (file) writeFileSync(file, 'cancelled');
          resolve(text('cancelled'));
        });
      }),
  },
  seen: {
    description: 'What was called.',
    run: () => text(JSON.stringify({ counts: Object.fromEntries(counts), cancelled })),
  },
  secret: {
    description: 'What it was given in confidence.',
    run: (_input, _call, { headers }) =>
      text(`${process.env['MCP_SECRET'] ?? 'none'} ${headers['x-secret'] ?? 'none'}`),
  },
  environment: {
    description: 'Names of its variables.',
    run: () => text(Object.keys(process.env).toSorted().join(' ')),
  },
  look: {
    description: 'What it reaches of where it runs.',
    inputSchema: { file: z.string(), port: z.number() },
    run: async ({ file, port }) => {
      const failure = ({ code, cause }) => code ?? cause?.code ?? 'failed';
      const reached = { read: await readFile(file, 'utf8').catch(failure) };
      reached.dial = await fetch(`http://127.0.0.1:${port}/`).then(() => 'reached', failure);
      const written = join(import.meta.dirname, `written-${process.pid}`);
      reached.write = await writeFile(written, '').then(() => rm(written), failure);
      reached.networks = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
      reached.user = process.getuid();
      return text(JSON.stringify(reached));
    },
  },
  get: {
    description: 'A page.',
    inputSchema: { url: z.string() },
    run: async ({ url }) => {
      const answer = await fetch(url).catch(({ cause }) => cause);
      return text(`${answer.status ?? answer.message}: ${(await answer.text?.()) ?? ''}`);
    },
  },
  'odd.name': { description: 'A name that no provider takes.', run: () => text('odd') },
  grow: {
    description: 'Adds a tool.',
    run: (_input, _call, { add }) => {
      add('grown', { description: 'New.', run: () => text('new') });
      return text('grown');
    },
  },
  exit: {
    description: 'Ends the server.',
    run: () => {
      process.stderr.write('out of cheese\n');
      process.exit(3);
    },
  },
};

function toolServer(headers = {}) {
  const server = new McpServer({ name: 'tools for tests', version: '1.0.0' });
  const add = (name, { run, ...config }) =>
    server.registerTool(name, config, (...given) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      // For a tool without a schema, the SDK passes no input.
      const [call, input = {}] = given.toReversed();
      return run(input, call, { headers, add });
    });
  for (const [name, tool] of Object.entries(tools)) add(name, tool);
  return server;
}

function serveHttp(port) {
  const transports = new Map();
  const answer = async (request, response) => {
    const token = process.env['MCP_TOKEN'];
    if (token && request.headers.authorization !== `Bearer ${token}`) {
      return response.writeHead(401).end();
    }
    const url = new URL(request.url, 'http://127.0.0.1');
    if (url.pathname === '/sse') {
      if (request.method !== 'GET') return response.writeHead(405).end();
      const transport = new SSEServerTransport('/messages', response);
      transports.set(transport.sessionId, transport);
      return toolServer(request.headers).connect(transport);
    }
    if (url.pathname === '/messages') {
      const transport = transports.get(url.searchParams.get('sessionId'));
      return transport?.handlePostMessage(request, response) ?? response.writeHead(404).end();
    }
    if (request.url !== '/mcp') return response.writeHead(404).end();
    const known = request.headers['mcp-session-id'];
    if (known) {
      const transport = transports.get(known);
      if (!transport) return response.writeHead(404).end();
      return transport.handleRequest(request, response);
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    await toolServer(request.headers).connect(transport);
    return transport.handleRequest(request, response);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(port, '127.0.0.1', () => console.log(server.address().port));
}

if (process.argv[2] === 'http') serveHttp(Number(process.argv[3] ?? 0));
else await toolServer().connect(new StdioServerTransport());
