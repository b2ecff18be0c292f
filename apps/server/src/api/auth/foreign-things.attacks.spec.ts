import { readdir } from 'node:fs/promises';
import { methods } from '@agentclientprotocol/sdk';
import {
  newEvent,
  sessionCommands,
  viewerRequests,
  type MadeToken,
  type MadeViewerLink,
} from '@belay/protocol';
import { sampled, until } from '@belay/testing';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { WebSocket } from 'ws';
import { Database } from '../../storage/database.js';
import {
  dataFiles,
  kinds,
  marker,
  plantedDocuments,
  plantForeignThings,
  plantedText,
  type ForeignThings,
  type Kind,
} from '../../testing/foreign-things.js';
import { ownTables, tables } from '../../testing/planted-tables.js';
import { dashboardSocket } from '../../testing/dashboard-socket.js';
import { AcpEditor } from '../../testing/acp-editor.js';
import { TestServer } from '../../testing/server.js';
import { storedDocuments } from '../../testing/stored-documents.js';
import { textUpTo } from '../../testing/text-up-to.js';
import { wayOf, waysInto, type WayIn } from '../../testing/ways-in.js';

/** What a token that starts its own sessions sees of the server: the settings that they start with. */
const seenByOwn: readonly Kind[] = ['settings'];

const narrow = ['own', 'link', 'certain'] as const;
type Narrow = (typeof narrow)[number];

describe('attacks: what belongs to others', () => {
  const server = new TestServer();
  const tokens = {} as Record<Narrow, string>;
  const sessions = {} as Record<Narrow, string>;
  let things: ForeignThings;
  let ways: WayIn[];

  beforeAll(async () => {
    // It asks for every route at once, which a caller may not.
    await server.start({ BELAY_REQUESTS_PER_SECOND: '0', BELAY_MAX_SANDBOXES: '100' });
    server.sandboxes.answer = () => ({ content: 'of its own', from: 1, next: null });
    // What changes it comes before what ends it.
    const ends = ({ method }: WayIn) => Number(method === 'DELETE');
    ways = waysInto(server).toSorted((a, b) => ends(a) - ends(b));
    const own = await server.json<MadeToken>('POST', '/api/tokens', {
      label: 'own',
      scope: 'operate',
      sessions: 'own',
    });
    tokens.own = own.token;
    sessions.own = await startedBy(own.token);
    sessions.certain = await server.session({ task: 'Count the herons' });
    const certain = await server.json<MadeToken>('POST', '/api/tokens', {
      label: 'certain',
      scope: 'operate',
      sessions: [sessions.certain],
    });
    tokens.certain = certain.token;
    sessions.link = await server.session({ task: 'Count the otters' });
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const path = `/api/sessions/${sessions.link}/links`;
    const link = await server.json<MadeViewerLink>('POST', path, { label: 'Ada', expires });
    tokens.link = link.token;
    things = await plantForeignThings(server);
  });
  afterAll(() => server.close());

  const start = (token: string, more: object = {}): Promise<Response> =>
    server.fetch('/api/sessions', {
      method: 'POST',
      token,
      body: JSON.stringify({ task: 'Count the geese', model: 'scripted:x', ...more }),
      headers: { 'content-type': 'application/json' },
    });

  async function startedBy(token: string): Promise<string> {
    const { id } = (await (await start(token)).json()) as { id: string };
    await server.reaches(id, 'running');
    return id;
  }

  /** The path with the id of a session where it has one, and with planted values for all other parameters. */
  function filled({ path, session: parameter }: WayIn, session: string): string {
    const parts = path.split('/');
    const group = parts[1] === 'api' ? parts[2] : parts[1];
    return parts
      .map((part) => {
        if (!part.startsWith(':')) return part;
        const name = part.slice(1);
        if (name === parameter) return session;
        const value = things.params[`${group}:${name}`];
        if (value !== undefined) return encodeURIComponent(value);
        throw new Error(`${path}: plant a ${group}:${name} in testing/foreign-things.ts.`);
      })
      .join('/');
  }

  async function ask(way: WayIn, token: string, session: string) {
    const query = new URLSearchParams({
      q: marker.slice(0, -1),
      session,
      filename: 'a',
      path: 'a',
      format: 'codex',
      cwd: '/a',
    });
    const isBodiless = way.method === 'GET' || way.method === 'DELETE';
    const answer = await server.fetch(`${filled(way, session)}?${query.toString()}`, {
      method: way.method,
      token,
      ...(!isBodiless && { body: '{}', headers: { 'content-type': 'application/json' } }),
    });
    const text = await textUpTo(answer, () => server.log.lastSeq(session));
    return { status: answer.status, text: text + JSON.stringify([...answer.headers]) };
  }

  /** The planted texts and ids in an answer, apart from the ids that were asked for. */
  function foundIn(text: string): string[] {
    const texts = Object.keys(kinds) as Kind[];
    const words = texts
      .map(plantedText)
      .filter((word) => new RegExp(`${word}(?!-secret)`).test(text));
    return [...words, ...things.unnamed.filter((id) => text.includes(id))];
  }
  const allowedFor = (who: Narrow): string[] => (who === 'own' ? seenByOwn.map(plantedText) : []);
  const leakedTo = (who: Narrow, text: string): string[] =>
    foundIn(text).filter((found) => !allowedFor(who).includes(found));

  it('is planted in every table and file that the server keeps', async () => {
    const { kysely } = server.app.get(Database);
    const shadows = /^(event_text_\w+|kysely_\w+|sqlite_\w+)$/;
    const found = (await kysely.introspection.getTables()).map(({ name }) => name);
    const planned = Object.keys(tables) as (keyof typeof tables)[];
    const values = await storedDocuments(server);
    // The index is made by the first search.
    await server.json('GET', `/api/search?q=${marker}`);
    const all = [...planned, ...ownTables];
    expect(found.filter((name) => !shadows.test(name)).toSorted()).toEqual(all.toSorted());
    for (const table of planned) {
      const stored = await kysely.selectFrom(table).selectAll().execute();
      const rows = JSON.stringify(table === 'document' ? values : stored);
      const ids = Object.values(things.params).filter((id) => id.length > 8);
      const isPlanted =
        rows.includes(plantedText(tables[table])) || ids.some((id) => rows.includes(id));
      // Sessions of callers that see everything have no owner, and terminals are files here.
      const isEmpty = table === 'session_owner' || table === 'terminal_piece';
      expect({ table, isPlanted }).toEqual({ table, isPlanted: !isEmpty });
    }
    const holds = (kind: Kind, value: unknown) => JSON.stringify(value).includes(plantedText(kind));
    for (const [name, kind] of Object.entries(plantedDocuments))
      expect({ name, isPlanted: holds(kind, values[name]) }).toEqual({ name, isPlanted: true });
    const others = Object.keys(values).filter((name) => !plantedDocuments[name]);
    // Which no route reads.
    expect(others).toEqual(['own-tokens']);
    for (const name of Object.keys(plantedDocuments)) expect(values).toHaveProperty(name);
    for (const file of await readdir(server.data)) {
      const plan = dataFiles[file] ? 'planned' : `plan ${file} in testing/foreign-things.ts`;
      expect({ file, plan }).toEqual({ file, plan: 'planned' });
    }
  });

  it.each(sampled(2, narrow))(
    'no route shows it to the token of kind %s, nor changes it',
    async (who) => {
      const isHidden = async (way: WayIn, session: string) => {
        const { text, status } = await ask(way, tokens[who], session);
        expect({ ...way, found: leakedTo(who, text) }).toEqual({ ...way, found: [] });
        const isForeign = session === things.session && way.session !== undefined;
        if (isForeign) expect({ ...way, status }).toEqual({ ...way, status: 404 });
        if (way.access === 'open' || isForeign) return;
        const isReached = way.about === 'caller' || (way.about === 'starting' && who === 'own');
        if (!isReached) expect({ ...way, status }).toEqual({ ...way, status: 403 });
      };
      const [reading, changing] = [ways.filter(reads), ways.filter((way) => !reads(way))];
      for (const session of [things.session, sessions[who]]) {
        await Promise.all(reading.map((way) => isHidden(way, session)));
        // The next tests need it.
        const isKept = (way: WayIn) => session !== sessions[who] || !deletesSession(way);
        for (const way of changing.filter(isKept)) await isHidden(way, session);
      }
    },
  );

  it('no session that a token starts shows it, nor the reason why it cannot', async () => {
    // The server with tools does not answer, and the machine is not connected.
    for (const more of [{ mcp: ['tools'] }, { machine: 'big' }]) {
      const answer = await start(tokens.own, more);
      expect({ more, ok: answer.ok, found: leakedTo('own', await answer.text()) }).toEqual({
        more,
        ok: false,
        found: [],
      });
    }
    const events = wayOf('GET', '/api/sessions/:id/events');
    const { text } = await ask(events, tokens.own, await startedBy(tokens.own));
    expect(text).toContain('The MCP server tools');
    expect(leakedTo('own', text)).toEqual([]);
  });

  it('the requests of those who own it show it', async () => {
    const asked = ways.filter(reads).map((way) => ask(way, server.token, things.session));
    const shown = foundIn((await Promise.all(asked)).map(({ text }) => text).join());
    for (const [kind, how] of Object.entries(kinds)) {
      const isShown = shown.includes(plantedText(kind as Kind));
      expect({ kind, isShown }).toEqual({ kind, isShown: how === 'shown' });
    }
    expect(shown).toEqual(expect.arrayContaining(things.unnamed));
    const own = wayOf('GET', '/api/sessions/:id/events');
    for (const who of narrow) {
      const answer = await ask(own, tokens[who], sessions[who]);
      expect({ who, status: answer.status }).toEqual({ who, status: 200 });
      expect(answer.text).toContain('Count the');
    }
  });

  it.each(narrow)('the dashboard’s socket sends none of it to %s', async (who) => {
    const session = sessions[who];
    const socket = dashboardSocket(server.url, { authorization: `Bearer ${tokens[who]}` });
    let received = '';
    socket.onAny((name: string, notice: unknown) => {
      received += `${name} ${JSON.stringify(notice)}`;
    });
    const inputs: Record<string, object> = {
      watch: { after: 0, terminals: { main: 0 } },
      'terminal.keys': { terminal: 'main', data: 'x' },
      'terminal.fit': { terminal: 'main', size: null },
      'terminal.hold': { terminal: 'main', holder: 'user' },
      'terminal.open': { terminal: 'main' },
      'browser.watch': { watched: true },
    };
    for (const id of [things.session, session])
      for (const name of Object.keys(viewerRequests)) {
        if (id === session && name === 'unwatch') continue;
        const input = { session: id, ...inputs[name] };
        received += JSON.stringify(await socket.emitWithAck(name, input));
      }
    await things.change();
    await server.log.append(session, [
      newEvent('user', 'pause', { args: {}, message: 'Of its own' }),
    ]);
    await until('it is told of its own', () => received.includes('Of its own'));
    await until('and sees its summary', () => received.includes('session {"id"'));
    socket.close();
    expect(leakedTo(who, received)).toEqual([]);
  });

  it.each(narrow)('the plain WebSocket sends none of it to %s', async (who) => {
    const session = sessions[who];
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${tokens[who]}` },
    });
    await new Promise((resolve) => socket.once('open', resolve));
    let received = '';
    let answers = 0;
    socket.on('message', (data: Buffer) => {
      received += data.toString();
      if (/"id":\d+/.test(data.toString())) answers += 1;
    });
    const reads = Object.entries(sessionCommands)
      .filter(([, { scope }]) => scope === 'view')
      .map(([name]) => name);
    const actions = [...reads, 'operations', 'files.read', 'action.loud', 'mcp.tools.x', 'watch'];
    let asked = 0;
    for (const id of [things.session, session])
      for (const action of actions) {
        asked += 1;
        const args = { session: id, after: 0, seconds: 0.1, path: 'a', terminals: true };
        socket.send(JSON.stringify({ action, args, id: asked }));
        await until(`${action} is answered`, () => answers >= asked);
      }
    await things.change();
    await server.log.append(session, [
      newEvent('user', 'pause', { args: {}, message: 'Of its own' }),
    ]);
    await until('it is told of its own', () => received.includes('Of its own'));
    socket.close();
    expect(leakedTo(who, received)).toEqual([]);
  });

  it.each(narrow)('ACP shows none of it to %s', async (who) => {
    const model = { name: `${plantedText('provider')}:x`, title: 'x', ready: true, remedy: null };
    Object.assign(server.models, { choices: () => Promise.resolve([model]) });
    const editor = await new AcpEditor().connect(server.url, tokens[who]);
    try {
      await editor.initialize();
      for (const open of [methods.agent.session.load, methods.agent.session.resume]) {
        const params = { sessionId: things.session, cwd: '/', mcpServers: [] };
        await expect(editor.agent.request(open, params)).rejects.toThrow('There is no session');
      }
      const listed = await editor.agent.request(methods.agent.session.list, {});
      const shown = [listed, await editor.load(sessions[who]), editor.updates];
      const received = JSON.stringify(shown);
      expect(received).toContain(sessions[who]);
      // What sessions can be started with is for callers who start them.
      const begun = await editor.begin(undefined).catch(() => undefined);
      expect({ who, begun: begun !== undefined }).toEqual({ who, begun: who === 'own' });
      const models = who === 'own' ? [plantedText('provider')] : [];
      expect(leakedTo(who, received)).toEqual(models);
    } finally {
      editor.close();
    }
  });

  it.each(sampled(1, narrow))('MCP shows none of it to %s', async (who) => {
    const session = sessions[who];
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${tokens[who]}` } };
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
      requestInit,
    });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    const { tools } = await client.listTools();
    let received = JSON.stringify([tools, await client.listResources()]);
    for (const id of [things.session, session])
      for (const tool of tools.filter(({ annotations }) => annotations?.readOnlyHint)) {
        const input = { session: id, after: 0, seconds: 0.1, path: 'a', pattern: 'a' };
        const params = { name: tool.name, arguments: input };
        // `callTool` would throw where an error is not an output of the tool.
        const answer = client.request({ method: 'tools/call', params }, CallToolResultSchema);
        received += JSON.stringify(await answer);
      }
    for (const uri of ['log', 'terminals/main', 'files/a'])
      await expect(
        client.readResource({ uri: `belay://sessions/${things.session}/${uri}` }),
      ).rejects.toThrow('There is no session');
    await client.close();
    expect(leakedTo(who, received)).toEqual([]);
    expect(received).toContain(session);
  });
});

const reads = ({ method }: WayIn): boolean => method === 'GET';

const deletesSession = ({ method, path }: WayIn): boolean =>
  method === 'DELETE' && path === '/api/sessions/:id';
