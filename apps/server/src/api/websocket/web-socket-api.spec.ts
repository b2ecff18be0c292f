import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { newEvent } from '@belay/protocol';
import { itLong, keptBytes, until } from '@belay/testing';
import { ownerCaller } from '../../access/caller.js';
import { TokensStore } from '../../access/tokens.store.js';
import { TransientNotices } from '../../logs/transient-notices.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { TestServer } from '../../testing/server.js';
import type { SentMessage } from './socket-messages.js';

/** Node’s own client: the same class as in browsers, but for the headers. */
class Client {
  readonly messages: SentMessage[] = [];
  closed: { code: number; reason: string } | undefined;
  #id = 0;
  readonly #socket: WebSocket;
  readonly opened: Promise<boolean>;

  constructor(url: string, options: { token?: string; protocols?: string[] }) {
    const headers = options.token ? { authorization: `Bearer ${options.token}` } : {};
    // What Node's WebSocket takes beside the protocols, no browser does.
    const more = { protocols: options.protocols ?? [], headers } as never;
    this.#socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, more);
    this.#socket.onmessage = ({ data }) =>
      this.messages.push(JSON.parse(data as string) as SentMessage);
    this.#socket.onclose = ({ code, reason }) => (this.closed = { code, reason });
    this.opened = new Promise((resolve) => {
      this.#socket.addEventListener('open', () => resolve(true));
      this.#socket.addEventListener('error', () => resolve(false));
    });
  }

  send(message: object | string): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async ask(action: string, args: object = {}, more: object = {}): Promise<SentMessage> {
    const id = (this.#id += 1);
    this.send({ action, args, id, ...more });
    return this.sees(`a reply to ${action}`, (message) => message.id === id);
  }

  async sees(what: string, wanted: (message: SentMessage) => boolean): Promise<SentMessage> {
    let found: SentMessage | undefined;
    await until(what, () => (found = this.messages.find(wanted)) !== undefined, {
      state: () => JSON.stringify([this.closed, this.messages.map(({ action }) => action)]),
    });
    return found as SentMessage;
  }

  close(): void {
    this.#socket.close();
  }
}

describe('the plain WebSocket', () => {
  const server = new TestServer();
  const clients: Client[] = [];
  beforeAll(() => server.start());
  afterAll(() => server.close());
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });

  const client = async (token = server.token): Promise<Client> => {
    const made = new Client(server.url, { token });
    clients.push(made);
    expect(await made.opened).toBe(true);
    return made;
  };

  it('starts a task, shows what the agent does in the verbs of the seed, and ends with finish', async () => {
    const me = await client();
    const started = await me.ask('start', { task: 'print hello', model: 'scripted:x' });
    expect(started).toMatchObject({ action: 'session', message: 'Starting new agent…' });
    const session = started.session ?? '';
    await server.reaches(session, 'running');
    const says = (action: string, args: object, id?: string) =>
      server.sandboxes.says(server.log, session, { action, args, ...(id && { id }) });
    const result = (operation: string, output: object) =>
      says('result', { operation, ok: true, output, seconds: 0 }, 'c');
    await says('terminal.run', { command: 'ls' }, 'c');
    await result('terminal.run', { text: 'hello.sh\n' });
    await says('plan', { markdown: '- [ ] test' });
    await says('code', { path: 'a', line: 3, change: 'INSERT', content: ['x'] });
    await says('think', { thought: 'Done.' }, 't');
    await says('browser.open', { url: 'https://pytorch.org/' }, 'b');
    await server.sandboxes.finishes(server.log, session, 'Printed.');
    await me.sees(
      'the end',
      ({ action, args }) => action === 'state' && 'state' in args && args.state === 'finished',
    );
    const seen = me.messages.filter(({ seq }) => seq !== undefined);
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index + 1));
    const actions = seen.map(({ action }) => action);
    const expected = ['start', 'run', 'output', 'planner', 'code', 'think', 'browse', 'finish'];
    expect(actions.filter((action) => expected.includes(action))).toEqual(
      expect.arrayContaining(expected),
    );
    const first = (action: string) => seen.find((message) => message.action === action)?.args;
    expect(first('run')).toMatchObject({ command: 'ls' });
    expect(first('output')).toMatchObject({ output: 'hello.sh\n' });
    expect(first('code')).toMatchObject({ line: 3, change: 'INSERT', content: ['x'] });
  });

  it('runs commands, reads, writes and edits by verbs or names, with one output each', async () => {
    const me = await client();
    const session = await server.session();
    server.sandboxes.answer = (operation) =>
      operation === 'terminal.run'
        ? {
            terminal: 'main',
            status: 'exited',
            exitCode: 0,
            seconds: 0,
            directory: '/',
            text: 'hi\n',
            omittedBytes: 0,
            from: 0,
            to: 3,
          }
        : { path: 'a', size: 1, lines: 1, created: true };
    await me.ask('watch', { session });
    expect(await me.ask('run', { command: 'echo hi' })).toMatchObject({
      action: 'output',
      args: { output: 'hi\n', operation: 'terminal.run', ok: true, result: { exitCode: 0 } },
    });
    await me.ask('write', { path: 'a', content: 'x' });
    await me.ask('code', { path: 'a', line: 3, change: 'DELETE', to: 4 });
    await me.ask('files.mkdir', { path: 'b', session });
    const calls = server.sandboxes.agents.get(session)?.calls.map(({ input }) => input);
    expect(calls).toMatchObject([
      { operation: 'terminal.run', input: { command: 'echo hi', wait: 30 } },
      { operation: 'files.write', input: { path: 'a', content: 'x' } },
      { operation: 'files.edit', input: { path: 'a', from: 3, to: 4, change: 'DELETE' } },
      { operation: 'files.mkdir', input: { path: 'b' } },
    ]);
  });

  it('chats, answers questions and approvals, pauses, resumes and stops', async () => {
    const me = await client();
    const session = await server.session();
    await me.ask('watch', { session });
    await me.ask('message', {}, { message: 'Use Python.' });
    await me.sees(
      'the message',
      ({ action, args }) => action === 'message' && 'text' in args && args.text === 'Use Python.',
    );
    const asked = {
      id: 'q',
      operation: 'terminal.run',
      input: {},
      risk: 'execute',
      subject: 'ls',
    } as const;
    const args = { ...asked, mode: 'ask', until: null } as const;
    await server.log.append(session, [
      newEvent('server', 'approval', { args, message: 'May it?', id: 'q' }),
    ]);
    await me.sees('the question', ({ action }) => action === 'approval');
    expect(await me.ask('reject', { id: 'q', reason: 'Not now.' })).toMatchObject({
      args: { waitingFor: [] },
    });
    await me.sees(
      'the answer',
      ({ action, args }) => action === 'reject' && 'reason' in args && args.reason === 'Not now.',
    );
    expect(await me.ask('pause')).toMatchObject({ args: { state: 'paused' } });
    expect(await me.ask('resume')).toMatchObject({ args: { state: 'running' } });
    expect(await me.ask('finish')).toMatchObject({ args: { state: 'stopped' } });
    expect(await me.ask('list')).toMatchObject({
      args: { sessions: expect.arrayContaining([expect.objectContaining({ id: session })]) },
    });
  });

  it('resumes after a break, exactly from a number', async () => {
    const session = await server.session();
    const all = await server.log.read(session, { after: 0 });
    const me = await client();
    await me.ask('watch', { session, after: 2 });
    await server.sandboxes.says(server.log, session, { action: 'think', args: { thought: 'on' } });
    await me.sees('what is new', ({ seq }) => seq === all.length + 1);
    expect(me.messages.flatMap(({ seq }) => seq ?? [])[0]).toBe(3);
  });

  it('replies before the first event, and refuses to begin beyond the last one', async () => {
    const session = await server.session();
    const me = await client();
    await me.ask('watch', { session });
    await me.sees('the first event', ({ seq }) => seq === 1);
    expect(me.messages[0]).toMatchObject({ action: 'session', message: 'Watching.' });
    const last = await server.log.lastSeq(session);
    expect(await me.ask('watch', { session, after: last + 1 })).toMatchObject({
      action: 'error',
      args: { code: 'invalid_input' },
    });
    expect(await me.ask('watch', { session, after: last })).toMatchObject({ action: 'session' });
  });

  it('sends events in order while they are written, and only what it watches', async () => {
    const session = await server.session();
    const me = await client();
    const writing = (async () => {
      for (let n = 0; n < 300; n += 1) {
        const args = { thought: `${n}` };
        await server.sandboxes.says(server.log, session, { action: 'think', args });
      }
    })();
    await me.ask('watch', { session });
    await writing;
    const last = await server.log.lastSeq(session);
    await me.sees('the last event', ({ seq }) => seq === last);
    const seqs = me.messages.flatMap(({ seq }) => seq ?? []);
    expect(seqs).toEqual(Array.from({ length: last }, (_, at) => at + 1));
    await me.ask('unwatch', { session });
    await server.sandboxes.says(server.log, session, { action: 'think', args: { thought: 'x' } });
    await me.ask('list');
    expect(me.messages.flatMap(({ seq }) => seq ?? [])).toHaveLength(last);
  });

  it('sends terminals from now or from offsets, with characters whole that came in pieces', async () => {
    const session = await server.session();
    const terminals = server.app.get(TerminalLog);
    const bytes = Buffer.from('grün und blau');
    await terminals.append(session, 'main', 0, bytes.subarray(0, 3));
    const [now, all, rest] = [await client(), await client(), await client()];
    await now.ask('watch', { session, terminals: true });
    await all.ask('watch', { session, terminals: {} });
    await rest.ask('watch', { session, terminals: { main: bytes.length - 4 } });
    const printed = ({ messages }: Client) =>
      messages.flatMap(({ action, args }) =>
        action === 'terminal' && 'content' in args ? [String(args.content)] : [],
      );
    await until('what it had', () => printed(all).join('') === 'gr');
    await terminals.append(session, 'main', 3, bytes.subarray(3));
    await until('all of it', () => printed(all).join('') === 'grün und blau');
    await until('the end', () => printed(rest).join('') === 'blau');
    await terminals.append(session, 'other', 0, Buffer.from('new'));
    await until('a terminal that opens', () => printed(now).at(-1) === 'new');
    expect(printed(now).join('')).toBe('\ufffdn und blaunew');
  });

  it('sends what is not in the log to those who want it', async () => {
    const session = await server.session();
    const [me, other] = [await client(), await client()];
    await me.ask('watch', { session, deltas: true });
    await other.ask('watch', { session });
    const last = await server.log.lastSeq(session);
    for (const each of [me, other]) await each.sees('the log', ({ seq }) => seq === last);
    const live = server.app.get(TransientNotices);
    live.delta(session, 'text', 'Hel');
    await me.sees('the text', ({ action }) => action === 'delta');
    live.output(session, 'c', '1 of 2');
    await me.sees('what is printed', ({ action }) => action === 'printed');
    live.copied(session, 5, 10);
    await me.sees('how far it is', ({ action }) => action === 'copied');
    const transient = me.messages.filter(
      ({ action, seq }) => seq === undefined && action !== 'session',
    );
    expect(transient).toEqual([
      { action: 'delta', session, args: { kind: 'text', text: 'Hel' }, message: '' },
      { action: 'printed', session, args: { call: 'c', text: '1 of 2' }, message: '' },
      { action: 'copied', session, args: { done: 5, total: 10 }, message: '' },
    ]);
    await other.ask('list');
    expect(other.messages.map(({ action }) => action)).not.toContain('delta');
  });

  it('says that a session it watches was deleted, and goes on', async () => {
    const session = await server.session();
    const me = await client();
    await me.ask('watch', { session });
    await server.json('DELETE', `/api/sessions/${session}`);
    const error = await me.sees('the error', ({ action }) => action === 'error');
    expect(error).toMatchObject({ session, args: { code: 'not_found' } });
    expect(await me.ask('list')).toMatchObject({ action: 'list' });
  });

  it('takes the token of a browser as a subprotocol or in the first message', async () => {
    const page = new Client(server.url, { protocols: ['belay', `token.${server.token}`] });
    const shy = new Client(server.url, {});
    clients.push(page, shy);
    await page.opened;
    await shy.opened;
    expect(await page.ask('list')).toMatchObject({ action: 'list' });
    expect(await shy.ask('auth', { token: server.token })).toMatchObject({
      action: 'auth',
      args: { scope: 'admin' },
    });
    expect(await shy.ask('list')).toMatchObject({ action: 'list' });
  });

  it.each([
    [{ action: 'run', args: { command: 'ls' } }, 'invalid_input', /session/],
    [{ action: 'run', args: { command: 'ls', session: 'none' } }, 'not_found', /no session/i],
    [{ action: 'start', args: { model: 'scripted:x' } }, 'invalid_input', /task/],
    [{ action: 'dance' }, 'invalid_input', /session/],
    [{ action: 'dance', args: { session: 'x' } }, 'not_found', /no operation dance/],
    [{ action: 'think', args: { session: 'x', thought: 'y' } }, 'not_found', /no operation think/],
    [{ action: '__proto__', args: { session: 'x' } }, 'not_found', /no operation/],
    [{ action: 'watch', args: { session: 'none' } }, 'not_found', /no session/i],
    [{ args: {} }, 'invalid_input', /action/],
    ['[]', 'invalid_input', /Send/],
    ['no JSON', 'invalid_input', /cannot be read/],
    [`${'['.repeat(100)}${']'.repeat(100)}`, 'invalid_input', /nested deeper/],
  ])('answers %j with an error', async (message, code, sentence) => {
    const me = await client();
    me.send(message);
    const error = await me.sees('an error', ({ action }) => action === 'error');
    expect(error).toMatchObject({ args: { code }, message: expect.stringMatching(sentence) });
    // The connection goes on.
    expect(await me.ask('list')).toMatchObject({ action: 'list' });
  });

  describe('attacks: the plain WebSocket', () => {
    it('a viewer watches, and neither begins nor acts', async () => {
      const session = await server.session();
      const viewer = await client(server.viewerToken);
      expect(await viewer.ask('watch', { session })).toMatchObject({ action: 'session' });
      const attempts = [
        ['start', { task: 'x', model: 'scripted:x' }],
        ['run', { command: 'ls' }],
        ['message', { text: 'x' }],
        ['stop', {}],
        ['approve', { id: 'q' }],
      ] as const;
      for (const [action, args] of attempts) {
        expect(await viewer.ask(action, args)).toMatchObject({
          action: 'error',
          args: { code: 'forbidden' },
        });
      }
    });

    const upgrade = (headers: Record<string, string>, path = '/ws'): Promise<number> =>
      new Promise((resolve, reject) => {
        const asked = request(server.url + path, {
          headers: {
            connection: 'Upgrade',
            upgrade: 'websocket',
            'sec-websocket-version': '13',
            'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
            ...headers,
          },
        });
        asked.once('upgrade', (response, socket) => {
          socket.destroy();
          resolve(response.statusCode ?? 0);
        });
        asked.once('response', (response) => resolve(response.resume().statusCode ?? 0));
        asked.once('error', reject).end();
      });

    it('Host, Origin and token are checked before the handshake, and no token stands in the address', async () => {
      const authorization = `Bearer ${server.token}`;
      const origin = server.url;
      expect(await upgrade({ authorization, origin })).toBe(101);
      expect(await upgrade({ authorization, origin: 'http://evil.example' })).toBe(403);
      expect(await upgrade({ authorization, origin: 'null' })).toBe(403);
      expect(await upgrade({ authorization, host: 'evil.example' })).toBe(403);
      expect(await upgrade({ authorization: 'Bearer wrong' })).toBe(401);
      expect(await upgrade({ authorization: '' })).toBe(401);
      expect(await upgrade({ 'sec-websocket-protocol': 'token.wrong' })).toBe(401);
      expect(await upgrade({}, `/ws?token=${server.token}`)).toBe(400);
    });

    it('strangers say who they are in their first message, or are closed', async () => {
      const stranger = new Client(server.url, {});
      const guesser = new Client(server.url, {});
      clients.push(stranger, guesser);
      await stranger.opened;
      await guesser.opened;
      stranger.send({ action: 'list' });
      guesser.send({ action: 'auth', args: { token: 'wrong' } });
      await until(
        'both are closed',
        () => stranger.closed?.code === 4401 && guesser.closed?.code === 4401,
      );
      expect(stranger.messages).toMatchObject([
        { action: 'error', args: { code: 'unauthorized' } },
      ]);
    });

    it('so many strangers at once are refused, and who has a token is not', async () => {
      const strangers = await Promise.all(
        Array.from({ length: 25 }, async () => {
          const one = new Client(server.url, {});
          clients.push(one);
          return one.opened;
        }),
      );
      expect(strangers.filter(Boolean)).toHaveLength(20);
      await client();
    });

    it('a token sees its own sessions alone, and its revocation closes its sockets', async () => {
      const other = await server.session();
      const made = { label: 'x', scope: 'operate', sessions: 'own', expires: null } as const;
      const { token, id } = await server.app.get(TokensStore).create(made, ownerCaller);
      const me = await client(token);
      const { session } = await me.ask('start', { task: 'Mine', model: 'scripted:x' });
      expect(await me.ask('status', { session })).toMatchObject({ action: 'session' });
      const attempts = ['status', 'watch', 'events', 'message', 'run', 'stop'];
      for (const action of attempts) {
        const args = { session: other, text: 'x', command: 'ls' };
        expect(await me.ask(action, args)).toMatchObject({ args: { code: 'not_found' } });
      }
      expect(await me.ask('list')).toMatchObject({ args: { sessions: [{ id: session }] } });
      await server.app.get(TokensStore).revoke(id);
      await until('it is closed', () => me.closed?.code === 4401);
    });

    it('a message that is too large ends its own connection only', async () => {
      const [large, viewer, other] = [
        await client(),
        await client(server.viewerToken),
        await client(),
      ];
      large.send(JSON.stringify({ action: 'list', args: { x: 'x'.repeat(9 * 2 ** 20) } }));
      viewer.send(JSON.stringify({ action: 'list', args: { x: 'x'.repeat(65 * 2 ** 10) } }));
      await until(
        'both are closed',
        () => large.closed?.code === 1009 && viewer.closed?.code === 1009,
      );
      expect(await other.ask('list')).toMatchObject({ action: 'list' });
    });

    /** A client that watches, and then reads nothing more. */
    const stalled = async (args: object): Promise<Socket> => {
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname);
      socket.write(
        `GET /ws HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer ${server.token}\r\n\r\n`,
      );
      await new Promise((resolve) => socket.once('data', resolve));
      socket.pause();
      const watch = Buffer.from(JSON.stringify({ action: 'watch', args }));
      expect(watch.length).toBeLessThan(126);
      socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | watch.length, 0, 0, 0, 0]), watch]));
      return socket;
    };

    itLong(
      'who does not read is closed with a code, or waits at its place in the log',
      async () => {
        const session = await server.session();
        const socket = await stalled({ session });
        const thought = 'x'.repeat(500_000);
        const before = keptBytes();
        for (let at = 0; at < 60; at += 1) {
          await server.sandboxes.says(server.log, session, { action: 'think', args: { thought } });
        }
        expect(keptBytes() - before).toBeLessThan(64 * 2 ** 20);
        // The honest reader beside it has all of them.
        const me = await client();
        await me.ask('watch', { session });
        const last = await server.log.lastSeq(session);
        await me.sees('the last event', ({ seq }) => seq === last);
        socket.destroy();
      },
    );

    itLong(
      'who does not read terminals is skipped forward, and others are not held up',
      async () => {
        const session = await server.session();
        const socket = await stalled({ session, terminals: true });
        const me = await client();
        await me.ask('watch', { session, terminals: true });
        const terminals = server.app.get(TerminalLog);
        const piece = Buffer.alloc(64 * 1024, 'x');
        const total = 24 * 2 ** 20;
        const before = keptBytes();
        for (let at = 0; at < total; at += piece.length) {
          await terminals.append(session, 'main', at, piece);
        }
        const ends = ({ action, args }: SentMessage) =>
          action === 'terminal' &&
          'offset' in args &&
          'content' in args &&
          Number(args.offset) + String(args.content).length === total;
        await me.sees('the end', ends);
        // What the reader beside it was sent is in this process, too.
        const sent = me.messages.reduce((sum, { args }) => sum + JSON.stringify(args).length, 0);
        expect(keptBytes() - before - sent).toBeLessThan(32 * 2 ** 20);
        socket.destroy();
      },
    );
  });
});
