import { createServer, type Server as HttpServer } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { newEvent, type Event } from '@belay/protocol';
import { memoryConnections } from '@belay/rpc';
import { until } from '@belay/testing';
import { ownerCaller } from '../access/caller.js';
import { ApprovalService } from '../approvals/approval.service.js';
import { RulesStore } from '../approvals/rules.store.js';
import { TestLogs } from '../testing/logs.js';
import { EgressService } from './egress.service.js';
import type { Resolver } from './resolver.js';

const listening = async <T extends Server>(server: T): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

describe('egress', () => {
  const names = new Map<string, string[]>();
  const resolver: Resolver = { addresses: (host) => Promise.resolve(names.get(host) ?? []) };
  const logs = new TestLogs();
  let server: Server;
  let port: number;
  let approvals: ApprovalService;
  let egress: EgressService;

  const open = async (environment: Record<string, string> = {}) => {
    await logs.open({
      npm_config_registry: `http://registry.test:${port}/`,
      HOME: '/nowhere',
      ...environment,
    });
    approvals = new ApprovalService(logs.log, logs.store, new RulesStore(logs.database, logs.log));
    approvals.onModuleInit();
    egress = new EgressService(logs.log, approvals, logs.config, resolver, logs.store);
  };
  beforeEach(async () => {
    names.clear();
    names.set('registry.test', ['127.0.0.1']);
    // Upper-cases what it gets, and says goodbye after the client’s end.
    server = createTcpServer({ allowHalfOpen: true }, (socket) => {
      socket.on('data', (chunk) => socket.write(chunk.toString().toUpperCase()));
      socket.on('end', () => socket.end('BYE'));
    });
    port = await listening(server);
  });
  afterEach(async () => {
    approvals.onModuleDestroy();
    await egress.beforeApplicationShutdown();
    await logs.close();
    await new Promise((resolve) => server.close(resolve));
  });

  /** As an agent does: by a stream over its connection. */
  const connectTo = (host: string, target = port): Promise<Duplex> => {
    const connections = memoryConnections({ server: {}, agent: {} });
    connections.server.accept('egress', (meta, stream) => egress.connect('s', meta, stream));
    return connections.agent.open('egress', { host, port: target });
  };
  const events = async (count = 1): Promise<Event[]> =>
    until('egress events', async () => {
      await egress.flush();
      const found = (await logs.log.read('s', { after: 0 })).filter(
        ({ action }) => action === 'egress',
      );
      return found.length >= count ? found : undefined;
    });
  const question = () =>
    until('a question', async () => (await logs.log.summary('s')).waitingFor[0]);

  it('connects a program to the hosts that it declares, and asks nobody about others', async () => {
    await open();
    await logs.session('s');
    const refused: string[] = [];
    const hosts = [`registry.test:${port}`, 'elsewhere.test'];
    const program = {
      name: 'The action a',
      session: 's',
      hosts,
      refused: (reason: string) => refused.push(reason),
    };
    const near = createTcpServer({ allowHalfOpen: true });
    const nearPort = await listening(near);
    const far = new Promise<Duplex>((resolve) => near.once('connection', resolve));
    const client = connect({ port: nearPort, allowHalfOpen: true });
    const take = await egress.connectProgram(program, { host: 'registry.test', port });
    take(await far);
    client.end('hello');
    expect(await text(client)).toBe('HELLOBYE');
    names.set('elsewhere.test', ['127.0.0.1']).set('127.0.0.1', ['127.0.0.1']);
    const others = ['other.test', 'elsewhere.test', '127.0.0.1'];
    for (const host of others) {
      const dialled = egress.connectProgram(program, { host, port: 443 });
      await expect(dialled).rejects.toMatchObject({ code: 'rejected' });
    }
    expect(refused).toEqual([
      expect.stringContaining('The action a may not reach other.test:443'),
      expect.stringContaining('private, reserved or closed network'),
      expect.stringContaining('private, reserved or closed network'),
    ]);
    expect((await events(4)).map(({ args }) => args['verdict'])).toContain('allowed');
    expect((await logs.log.summary('s')).waitingFor).toEqual([]);
    // Without a session it is nobody’s.
    const alone = { ...program, session: null };
    await expect(
      egress.connectProgram(alone, { host: 'other.test', port: 443 }),
    ).rejects.toMatchObject({ code: 'rejected' });
    near.close();
  });

  it('connects to a registry that the host itself is set up with, though it is private', async () => {
    await open();
    await logs.session('s');
    const stream = await connectTo('Registry.Test.');
    stream.end('hello');
    expect(await text(stream)).toBe('HELLOBYE');
    const [event] = await events();
    expect(event?.args).toEqual({
      host: 'registry.test',
      port,
      verdict: 'allowed',
      reason: null,
      sent: 5,
      received: 8,
    });
    expect(event?.message).toBe(`registry.test:${port}: 5 B sent, 8 B received.`);
  });

  it('says what each of several connections has sent', async () => {
    await open();
    await logs.session('s');
    for (let count = 0; count < 20; count += 1) {
      const stream = await connectTo('registry.test');
      stream.end('x');
      await text(stream);
    }
    await until('all bytes', async () => {
      const sent = (await events()).reduce((sum, { args }) => sum + Number(args['sent']), 0);
      return sent === 20;
    });
  });

  it.each([
    ['10.0.0.5', ['10.0.0.5']],
    ['metadata.test', ['169.254.169.254']],
    ['mapped.test', ['::ffff:127.0.0.1']],
    ['both.test', ['127.0.0.1', 'fe80::1']],
    ['::1', ['::1']],
  ])('refuses %s in every profile, without a question', async (host, addresses) => {
    await open();
    names.set(host, addresses);
    await logs.session('s', { egress: { profile: 'open' } });
    await expect(connectTo(host)).rejects.toMatchObject({
      code: 'rejected',
      message: expect.stringContaining('in a private, reserved or closed network') as string,
    });
    expect((await events())[0]?.args).toMatchObject({ verdict: 'refused', sent: 0 });
    expect((await logs.log.summary('s')).waitingFor).toEqual([]);
  });

  it('does not ask about forbidden addresses, and does not resolve refused names', async () => {
    await open();
    const looked: string[] = [];
    const watching: Resolver = {
      addresses: (host) => {
        looked.push(host);
        return Promise.resolve([host === 'localhost' ? '127.0.0.1' : host]);
      },
    };
    egress = new EgressService(logs.log, approvals, logs.config, watching, logs.store);
    await logs.session('s', { egress: { profile: 'list' } });
    for (const host of ['169.254.169.254', '0x7f.1', 'localhost', '::1']) {
      await expect(connectTo(host)).rejects.toMatchObject({ code: 'rejected' });
    }
    expect((await logs.log.summary('s')).waitingFor).toEqual([]);
    looked.length = 0;
    const refused = connectTo('secret-in-a-name.test').catch((error: Error) => error.message);
    await approvals.answer(
      's',
      { id: (await question()).id, caller: ownerCaller },
      { verdict: 'rejected' },
    );
    expect(await refused).toContain('does not allow secret-in-a-name.test');
    expect(looked).toEqual([]);
  });

  it('connects to the very address that was checked: a name is looked up once', async () => {
    await open();
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1']];
    let asked = 0;
    const changing: Resolver = { addresses: () => Promise.resolve(answers[asked++] ?? []) };
    egress = new EgressService(logs.log, approvals, logs.config, changing, logs.store);
    await logs.session('s', { egress: { profile: 'open' } });
    (await connectTo('registry.test')).destroy();
    expect(asked).toBe(1);
    // The next connection is checked anew: not by what the name meant before.
    await expect(connectTo('rebinding.test')).rejects.toMatchObject({ code: 'rejected' });
    expect(asked).toBe(2);
  });

  it('reports unknown names and unreachable hosts', async () => {
    await open({ npm_config_registry: 'http://closed.test:9/' });
    await logs.session('s', { egress: { profile: 'open' } });
    await expect(connectTo('nobody.test')).rejects.toMatchObject({
      code: 'unavailable',
      message: 'There is no host nobody.test; check the name.',
    });
    names.set('closed.test', ['127.0.0.1']);
    await expect(connectTo('closed.test', 9)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^closed\.test:9 cannot be reached: .*ECONNREFUSED/) as string,
    });
    expect((await events(2)).map(({ args }) => args['verdict'])).toEqual(['failed', 'failed']);
  });

  it('asks the user once about a refused host, and then allows all waiting connections', async () => {
    await open();
    await logs.session('s', { egress: { profile: 'list' } });
    const waiting = Promise.all([connectTo('registry.test'), connectTo('registry.test')]);
    const asked = await question();
    expect(asked).toMatchObject({
      operation: 'egress',
      risk: 'network',
      subject: `registry.test:${port}`,
    });
    await approvals.answer('s', { id: asked.id, caller: ownerCaller }, { verdict: 'approved' });
    for (const stream of await waiting) stream.destroy();
    // It counts for the session from now on.
    (await connectTo('registry.test')).destroy();
    const log = await logs.log.read('s', { after: 0 });
    expect(log.filter(({ action }) => action === 'approval')).toHaveLength(1);
  });

  it('returns the reason of a rejection, and does not ask again at once', async () => {
    await open();
    await logs.session('s', { egress: { profile: 'list' } });
    const refused = connectTo('registry.test').catch((error: Error) => error.message);
    await approvals.answer(
      's',
      { id: (await question()).id, caller: ownerCaller },
      {
        verdict: 'rejected',
        reason: 'Not this one.',
      },
    );
    const sentence = `The egress profile list of this session does not allow registry.test:${port}: Not this one.`;
    expect(await refused).toBe(sentence);
    await expect(connectTo('registry.test')).rejects.toThrow(sentence);
    expect((await logs.log.summary('s')).waitingFor).toEqual([]);
  });

  it('tells the model what was refused and why, by whom it was', async () => {
    await open();
    await logs.session('s', { egress: { profile: 'list' } });
    expect(await egress.report('s')).toBeNull();
    const refused = connectTo('registry.test').catch(() => null);
    const { id } = await question();
    expect(await egress.report('s')).toContain(`registry.test:${port} waits`);
    await approvals.answer('s', { id: id, caller: ownerCaller }, { verdict: 'rejected' });
    await refused;
    expect(await egress.report('s')).toContain('the user refused it');
    const rules = new RulesStore(logs.database, logs.log);
    const rule = { scope: 'all', operation: 'egress', pattern: 'ruled.test:443' } as const;
    await rules.create({ ...rule, verdict: 'rejected', expires: null });
    await connectTo('ruled.test', 443).catch(() => null);
    expect(await egress.report('s')).toContain('a rule of the user rejects it');
    await logs.session('auto', { egress: { profile: 'list' }, approvals: 'auto' });
    await expect(
      egress.connect('auto', { host: 'x.test', port: 443 }, null as never),
    ).rejects.toMatchObject({ code: 'rejected' });
    const report = await egress.report('auto');
    expect(report).toContain('The mode auto asks nobody, and no rule allows');
    expect(report).not.toContain('the user refused');
    expect(report).toContain('No host is open.');
  });

  it('follows a remembered rule, and does not ask in the mode auto', async () => {
    await open();
    await logs.session('s', { egress: { profile: 'list' }, approvals: 'auto' });
    await expect(connectTo('registry.test')).rejects.toMatchObject({ code: 'rejected' });
    const rules = new RulesStore(logs.database, logs.log);
    const pattern = `registry.test:${port}`;
    await rules.create({
      scope: 'all',
      operation: 'egress',
      pattern,
      verdict: 'approved',
      expires: null,
    });
    (await connectTo('registry.test')).destroy();
  });

  it('ends its connections with the server, and writes them down', async () => {
    await open();
    await logs.session('s');
    const stream = await connectTo('registry.test');
    const closed = new Promise((resolve) => stream.once('close', resolve));
    stream.write('hello');
    await new Promise((resolve) => stream.once('data', resolve));
    await egress.beforeApplicationShutdown();
    await closed;
    const log = await logs.log.read('s', { after: 0 });
    expect(log.at(-1)).toMatchObject({ action: 'egress', args: { sent: 5, received: 5 } });
  });

  it('ends its connections when the user gives the session another network', async () => {
    await open();
    await logs.session('s');
    const stream = await connectTo('registry.test');
    const closed = new Promise((resolve) => stream.once('close', resolve));
    stream.write('hello');
    await new Promise((resolve) => stream.once('data', resolve));
    const change = { args: { egress: { profile: 'none' as const } }, message: 'Changed network.' };
    await logs.log.append('s', [newEvent('user', 'change', change)]);
    await closed;
    expect(await logs.log.summary('s')).toMatchObject({ network: 'none' });
    await expect(connectTo('registry.test').then(text)).rejects.toThrow('egress profile none');
  });

  it('does not ask when the profile is none', async () => {
    await open();
    await logs.session('s', { egress: { profile: 'none', hosts: ['registry.test'] } });
    await expect(connectTo('registry.test')).rejects.toThrow(/profile none .* does not allow/);
    expect((await logs.log.summary('s')).waitingFor).toEqual([]);
  });

  it('moves megabytes with back pressure and ends the other side when one breaks', async () => {
    await open();
    await logs.session('s');
    const stream = await connectTo('registry.test');
    const size = 5_000_000;
    const answer = text(stream);
    stream.end(Buffer.alloc(size, 'a'));
    expect((await answer).length).toBe(size + 3);
    const broken = await connectTo('registry.test');
    const sockets = await new Promise<number>((resolve) =>
      server.getConnections((_, count) => resolve(count)),
    );
    expect(sockets).toBeGreaterThan(0);
    broken.destroy();
  });

  describe('through the host’s own proxy', () => {
    let proxy: HttpServer;
    const asked: { authority: string | undefined; authorization: string | undefined }[] = [];
    let address: string;
    beforeEach(async () => {
      asked.length = 0;
      proxy = createServer();
      proxy.on('connect', (request, socket: Duplex) => {
        asked.push({
          authority: request.url,
          authorization: request.headers['proxy-authorization'],
        });
        if (request.url?.startsWith('forbidden')) {
          socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
          return;
        }
        const outside = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
        socket.write('HTTP/1.1 200 OK\r\n\r\nHI ');
        socket.pipe(outside).pipe(socket);
      });
      address = `http://me:p%40ss@127.0.0.1:${await listening(proxy)}`;
    });
    afterEach(async () => {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    });

    it('tunnels by name, also to names that only the proxy knows', async () => {
      await open({ https_proxy: address });
      await logs.session('s', { egress: { profile: 'open' } });
      const stream = await connectTo('only-there.test', 443);
      stream.end('hello');
      expect(await text(stream)).toBe('HI HELLOBYE');
      const authorization = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
      expect(asked).toEqual([{ authority: 'only-there.test:443', authorization }]);
    });

    it('still refuses private addresses, and reports refusals of the proxy', async () => {
      await open({ https_proxy: address });
      await logs.session('s', { egress: { profile: 'open' } });
      names.set('inside.test', ['10.1.2.3']);
      await expect(connectTo('inside.test', 443)).rejects.toMatchObject({ code: 'rejected' });
      expect(asked).toEqual([]);
      await expect(connectTo('forbidden.test', 443)).rejects.toThrow(
        'forbidden.test:443 cannot be reached: the host’s proxy answered 407.',
      );
    });
  });
});
