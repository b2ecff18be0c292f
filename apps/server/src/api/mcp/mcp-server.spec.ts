import { createHash } from 'node:crypto';
import {
  newEvent,
  operations,
  sessionCommands,
  toolName,
  type SessionCommand,
} from '@belay/protocol';
import { until } from '@belay/testing';
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  type CallToolResult,
  type ElicitResult,
  type ReadResourceResult,
} from '@modelcontextprotocol/sdk/types.js';
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { ownerCaller } from '../../access/caller.js';
import { TokensStore } from '../../access/tokens.store.js';
import { BlobStore } from '../../logs/blob-store.js';
import { TestServer } from '../../testing/server.js';

describe('the MCP server', () => {
  const server = new TestServer();
  const clients: Client[] = [];
  beforeAll(() => server.start());
  afterAll(() => server.close());
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  const connect = async (
    token = server.token,
    onQuestion?: (message: string) => ElicitResult,
  ): Promise<Client> => {
    const capabilities = onQuestion ? { elicitation: {} } : {};
    const client = new Client({ name: 'test', version: '1' }, { capabilities });
    if (onQuestion) {
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => onQuestion(params.message));
    }
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
      requestInit,
    });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    clients.push(client);
    return client;
  };
  const call = async (client: Client, name: string, input: object = {}) =>
    (await client.callTool({ name, arguments: { ...input } })) as CallToolResult;
  const asks = async (session: string, id: string) => {
    const request = { id, operation: 'terminal.run', input: {}, risk: 'execute', subject: 'rm x' };
    const args = { ...request, mode: 'ask', until: null } as never;
    await server.log.append(session, [
      newEvent('server', 'approval', { args, message: 'May it?', id }),
    ]);
  };

  it('offers every operation for users and every command for models as a tool', async () => {
    const { tools } = await (await connect()).listTools();
    const expected = [
      ...Object.entries<SessionCommand>(sessionCommands)
        .filter(([, { audience }]) => audience.includes('model'))
        .map(([name]) => `session_${name}`),
      ...Object.values(operations)
        .filter(({ audience }) => (audience as readonly string[]).includes('user'))
        .map(({ name }) => toolName(name)),
    ];
    expect(tools.map(({ name }) => name)).toEqual(expected);
    const run = tools.find(({ name }) => name === 'terminal_run');
    expect(run).toMatchObject({
      inputSchema: { required: ['session', 'command'], properties: { session: {}, command: {} } },
      outputSchema: { type: 'object', properties: { text: {}, exitCode: {} } },
      annotations: { readOnlyHint: false },
    });
    expect(tools.filter(({ outputSchema }) => outputSchema?.type !== 'object')).toEqual([]);
  });

  it('starts a session, waits with progress, talks to it and calls operations in it', async () => {
    const client = await connect();
    // The client checks results by the output schemas that it knows.
    await client.listTools();
    const started = await call(client, 'session_start', { task: 'Paint', model: 'scripted:x' });
    const session = String(started.structuredContent?.['id']);
    await server.reaches(session, 'running');
    server.sandboxes.answer = () => ({
      path: 'a',
      content: 'hi',
      from: 1,
      to: 1,
      lines: 1,
      size: 2,
      next: null,
      version: null,
    });
    const read = await call(client, 'files_read', { session, path: 'a' });
    expect(read).toMatchObject({ structuredContent: { content: 'hi' } });
    // The text is the structured content, so that a client shows its model only one of them.
    const [said] = read.content;
    expect(JSON.parse(said?.type === 'text' ? said.text : '')).toEqual(read.structuredContent);
    for (const name of ['session_status', 'session_events', 'session_list'])
      expect(await call(client, name, { session })).not.toHaveProperty('isError', true);
    await call(client, 'session_message', { session, text: 'In blue.' });
    const told: string[] = [];
    const waiting = client.callTool(
      { name: 'session_wait', arguments: { session, seconds: 50 } },
      undefined,
      { onprogress: ({ message }) => told.push(message ?? '') },
    );
    await until('progress', () => told.some((line) => line.includes('In blue.')));
    await server.sandboxes.finishes(server.log, session, 'Painted.');
    expect(await waiting).toMatchObject({ structuredContent: { session: { state: 'finished' } } });
  });

  it('cancels a call with its request', async () => {
    const client = await connect();
    const session = await server.session();
    const ending = new AbortController();
    const waiting = client.callTool(
      { name: 'session_wait', arguments: { session, seconds: 50 } },
      undefined,
      {
        signal: ending.signal,
        onprogress: () => ending.abort(),
      },
    );
    await expect(waiting).rejects.toThrow(/abort/i);
    expect(await call(client, 'session_status', { session })).not.toHaveProperty('isError', true);
  });

  it('puts approvals and questions to the client’s user, and carries the answers out', async () => {
    const session = await server.session();
    const questions: string[] = [];
    const client = await connect(server.token, (message): ElicitResult => {
      questions.push(message);
      return message.startsWith('May this run')
        ? { action: 'accept', content: { decision: 'reject', reason: 'Not now.' } }
        : { action: 'accept', content: { answer: 'blue' } };
    });
    const progress: string[] = [];
    const waiting = client.callTool(
      { name: 'session_wait', arguments: { session, seconds: 50 } },
      undefined,
      { onprogress: ({ message }) => progress.push(message ?? '') },
    );
    await asks(session, 'q1');
    const said = async (action: string) =>
      (await server.log.read(session, { after: 0 })).some((event) => event.action === action);
    await until('the rejection', () => said('reject'));
    await server.sandboxes.says(server.log, session, {
      action: 'ask',
      args: { question: 'Which colour?', options: [] },
      id: 'c',
    });
    await until('the answer', () => said('message'));
    await server.sandboxes.finishes(server.log, session);
    await waiting;
    expect(questions[0]).toContain('terminal.run');
    expect(questions[0]).toContain('rm x');
    expect(questions[1]).toBe('Which colour?');
    // A wait that goes on after an answer reports no event again.
    const events = progress.filter((line) => /^\d+ [\w.-]+:/.test(line));
    expect(events.length).toBeGreaterThan(3);
    expect(new Set(events).size).toBe(events.length);
  });

  it('shows logs and files as resources', async () => {
    const client = await connect();
    const session = await server.session();
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain(`belay://sessions/${session}/log`);
    const textOf = ({ contents: [first] }: ReadResourceResult) =>
      first && 'text' in first ? first.text : '';
    const log = textOf(
      await client.readResource({ uri: `belay://sessions/${session}/log?after=1` }),
    );
    expect(JSON.parse(log.split('\n')[0] ?? '')).toMatchObject({ seq: 2 });
    // In pages of bytes, so that a long line is whole.
    const line = 'é'.repeat(100_000);
    server.sandboxes.answer = (_, input) => {
      const { offset } = Object(input) as { offset: number };
      const page = Buffer.from(line).subarray(offset, offset + 150_000);
      const to = offset + page.length;
      const content = page.toString('base64');
      const next = to < 200_000 ? to : null;
      return {
        path: 'a b',
        content,
        from: offset,
        to,
        lines: 0,
        size: 200_000,
        next,
        version: null,
      };
    };
    expect(
      textOf(await client.readResource({ uri: `belay://sessions/${session}/files/a%20b` })),
    ).toBe(line);
    expect(server.sandboxes.agents.get(session)?.calls.at(-1)).toMatchObject({
      input: { input: { path: 'a b' } },
    });
    const blob = await server.app.get(BlobStore).putOf(session, Buffer.from('a,b'), 'text/plain');
    const stored = `belay://sessions/${session}/blobs/${blob}`;
    expect(textOf(await client.readResource({ uri: stored }))).toBe('a,b');
    const other = await server.session();
    for (const uri of [
      `belay://sessions/${other}/blobs/${blob}`,
      `belay://calls/blobs/${blob}`,
      'belay://sessions/none/log',
      `belay://sessions/${session}/files/%ff`,
      'file:///etc/passwd',
    ]) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_002 });
    }
  });

  it.each([
    ['session_start', {}, 'invalid_input', /task/],
    ['files_read', { path: 'a' }, 'invalid_input', /session/],
    ['files_read', { session: 'none', path: 'a' }, 'not_found', /no session/],
    ['session_wait', { session: 'x', seconds: 900 }, 'invalid_input', /seconds/],
  ])('%s %j is refused in one sentence', async (name, input, code, sentence) => {
    const failed = await call(await connect(), name, input);
    expect(failed).toMatchObject({ isError: true, _meta: { 'belay/problem': { code } } });
    expect(failed.content[0]).toMatchObject({ text: expect.stringMatching(sentence) });
  });

  describe('attacks: the MCP server', () => {
    it('a viewer sees tools that read alone, and calls no others', async () => {
      const client = await connect(server.viewerToken);
      const session = await server.session();
      const { tools } = await client.listTools();
      expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
      for (const name of ['session_stop', 'terminal_run', 'session_start']) {
        const input = { session, command: 'ls', task: 'x', model: 'scripted:x' };
        expect(await call(client, name, input)).toMatchObject({
          _meta: { 'belay/problem': { code: 'forbidden' } },
        });
      }
    });

    it('a connection counts with its own token alone, and ends with it', async () => {
      const made = { label: 'x', scope: 'operate', sessions: 'own', expires: null } as const;
      const { token, id } = await server.app.get(TokensStore).create(made, ownerCaller);
      const session = await server.session();
      const client = await connect(token);
      expect(await call(client, 'session_status', { session })).toMatchObject({
        _meta: { 'belay/problem': { code: 'not_found' } },
      });
      expect((await client.listResources()).resources).toEqual([]);
      const theirs = (client.transport as { sessionId?: string } | undefined)?.sessionId ?? '';
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const post = (headers: Record<string, string>, body: unknown = message) =>
        server.fetch('/mcp', {
          method: 'POST',
          body: JSON.stringify(body),
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...headers,
          },
        });
      expect((await post({ 'mcp-session-id': theirs })).status).toBe(404);
      expect((await post({ origin: 'http://evil.example' })).status).toBe(403);
      expect(
        (await post({ 'mcp-session-id': theirs, authorization: `Bearer ${token}` })).status,
      ).toBe(200);
      await server.app.get(TokensStore).revoke(id);
      await expect(client.listTools()).rejects.toThrow();
      // What is large or deep is refused before it is parsed.
      const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
      const raw = { method: 'POST', headers: { 'content-type': 'application/json' } };
      expect((await server.fetch('/mcp', { ...raw, body: deep })).status).toBe(400);
      expect(
        (await server.fetch('/mcp', { ...raw, body: `"${'x'.repeat(9 * 2 ** 20)}"` })).status,
      ).toBe(413);
    });
  });

  describe('OAuth', () => {
    /** As an MCP client that opens the user’s browser. */
    class Provider implements OAuthClientProvider {
      readonly redirectUrl = 'http://127.0.0.1:9/callback';
      readonly clientMetadata = { redirect_uris: [this.redirectUrl], client_name: 'Zed <b>' };
      page: URL | undefined;
      #client: OAuthClientInformationMixed | undefined;
      #tokens: OAuthTokens | undefined;
      #verifier = '';
      clientInformation = () => this.#client;
      saveClientInformation = (client: OAuthClientInformationMixed) => void (this.#client = client);
      tokens = () => this.#tokens;
      saveTokens = (tokens: OAuthTokens) => void (this.#tokens = tokens);
      redirectToAuthorization = (page: URL) => void (this.page = page);
      saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
      codeVerifier = () => this.#verifier;
    }

    const consent = (page: URL, more: object = {}, token = server.token) =>
      server.fetch('/oauth/consents', {
        method: 'POST',
        token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          ...Object.fromEntries(page.searchParams),
          allow: true,
          grant: 'operate',
          sessions: 'own',
          ...more,
        }),
      });

    it('is found from the refusal, asks the user, and gives a stored token that can be revoked', async () => {
      const refused = await server.fetch('/mcp', { method: 'POST', token: '' });
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toContain(
        '/.well-known/oauth-protected-resource/mcp',
      );
      const provider = new Provider();
      const serverUrl = new URL('/mcp', server.url);
      expect(await auth(provider, { serverUrl })).toBe('REDIRECT');
      const page = provider.page as URL;
      const shown = await (await server.fetch(page.pathname + page.search, { token: '' })).text();
      expect(shown).toContain('Zed &#60;b&#62;');
      const { redirect } = (await (await consent(page)).json()) as { redirect: string };
      const authorizationCode = new URL(redirect).searchParams.get('code') ?? '';
      expect(await auth(provider, { serverUrl, authorizationCode })).toBe('AUTHORIZED');
      const token = provider.tokens()?.access_token ?? '';
      const client = await connect(token);
      expect((await client.listTools()).tools.length).toBeGreaterThan(20);
      expect(server.app.get(TokensStore).list()[0]).toMatchObject({
        label: 'Zed <b> (OAuth)',
        scope: 'operate',
        sessions: 'own',
      });
      // The SDK renews it without the user; the old one is void, and one that is used again ends both.
      const before = provider.tokens();
      expect(await auth(provider, { serverUrl })).toBe('AUTHORIZED');
      const renewed = provider.tokens()?.access_token ?? '';
      expect(renewed).not.toBe(token);
      const status = async (each: string) =>
        (await server.fetch('/api/me', { token: each })).status;
      expect([await status(token), await status(renewed)]).toEqual([401, 200]);
      const stolen = new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: String(provider.clientInformation()?.client_id),
        refresh_token: before?.refresh_token ?? '',
      });
      const again = { method: 'POST', token: '', body: stolen };
      expect(await (await server.fetch('/oauth/token', again)).json()).toMatchObject({
        error: 'invalid_grant',
      });
      expect(await status(renewed)).toBe(401);
    });

    it('gives up a token by itself, and opens nothing of the owner’s', async () => {
      const made = { label: 'x', scope: 'operate', sessions: 'own', expires: null } as const;
      const { token } = await server.app.get(TokensStore).create(made, ownerCaller);
      const client = await connect(token);
      // It does not open what is the owner's alone.
      expect((await server.fetch('/api/providers', { method: 'PUT', token })).status).not.toBe(200);
      const revoke = (form: Record<string, string>) =>
        server.fetch('/oauth/revoke', {
          method: 'POST',
          token: '',
          body: new URLSearchParams(form),
        });
      const refused = await revoke({});
      expect([refused.status, await refused.json()]).toEqual([
        400,
        expect.objectContaining({ error: 'invalid_request' }),
      ]);
      expect((await revoke({ token })).status).toBe(200);
      await expect(client.listTools()).rejects.toThrow();
    });

    it('attacks: gives nothing to who has no consent, another verifier, address or client, or a used code', async () => {
      const registered = await server.fetch('/oauth/register', {
        method: 'POST',
        token: '',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          redirect_uris: ['https://app.example/cb', 'http://127.0.0.1/cb'],
          client_name: 'App',
        }),
      });
      const { client_id: id } = (await registered.json()) as { client_id: string };
      const verifier = 'v'.repeat(50);
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const page = (more: Record<string, string> = {}) => {
        const url = new URL('/oauth/authorize', server.url);
        const wanted = {
          response_type: 'code',
          client_id: id,
          redirect_uri: 'https://app.example/cb',
          code_challenge: challenge,
          code_challenge_method: 'S256',
          state: 's',
          ...more,
        };
        for (const [name, value] of Object.entries(wanted)) url.searchParams.set(name, value);
        return url;
      };
      const code = async () => {
        const { redirect } = (await (await consent(page())).json()) as { redirect: string };
        expect(redirect).toContain('state=s');
        return new URL(redirect).searchParams.get('code') ?? '';
      };
      const token = async (form: Record<string, string>) => {
        const body = new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: id,
          redirect_uri: 'https://app.example/cb',
          code_verifier: verifier,
          ...form,
        });
        const headers = { 'content-length': String(body.toString().length) };
        const response = await server.fetch('/oauth/token', {
          method: 'POST',
          token: '',
          body,
          headers,
        });
        return { status: response.status, ...((await response.json()) as object) };
      };
      for (const caller of ['', server.viewerToken]) {
        expect([401, 403]).toContain((await consent(page(), {}, caller)).status);
      }
      const wrongs: Record<string, string>[] = [
        { redirect_uri: 'https://evil.example/cb' },
        { client_id: 'none' },
        { code_challenge_method: 'plain' },
        { resource: 'https://evil.example/mcp' },
      ];
      for (const wrong of wrongs) {
        expect((await consent(page(wrong))).status).toBe(400);
        expect((await server.fetch(page(wrong).pathname + page(wrong).search)).status).toBe(400);
      }
      expect((await consent(page({ redirect_uri: 'http://127.0.0.1:4711/cb' }))).status).toBe(200);
      const bad = { status: 400, error: 'invalid_grant' };
      expect(await token({ code: 'guessed' })).toMatchObject(bad);
      expect(await token({ code: await code(), code_verifier: 'w'.repeat(50) })).toMatchObject(bad);
      expect(
        await token({ code: await code(), redirect_uri: 'http://127.0.0.1/cb' }),
      ).toMatchObject(bad);
      expect(await token({ code: await code(), client_id: 'other' })).toMatchObject(bad);
      const once = await code();
      expect(await token({ code: once })).toMatchObject({
        status: 200,
        token_type: 'Bearer',
        scope: 'operate',
      });
      expect(await token({ code: once })).toMatchObject(bad);
      for (const uri of [
        'javascript:alert(1)//',
        'http://app.example/cb',
        'data:text/html,x',
        'https://u@app.example/',
        'no address',
      ]) {
        const body = JSON.stringify({ redirect_uris: [uri] });
        const headers = { 'content-type': 'application/json' };
        expect(
          (await server.fetch('/oauth/register', { method: 'POST', token: '', headers, body }))
            .status,
        ).toBe(400);
      }
    });
  });
});
