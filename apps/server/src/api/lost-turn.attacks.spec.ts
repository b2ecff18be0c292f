import { lease } from '../storage/lease.js';
import { SandboxServer } from '../testing/sandbox-server.js';
import { TestServer } from '../testing/server.js';

/** As in a process that was stopped for so long that another server works on the sessions by now. */
const lose = (): void => lease.renew(performance.now() - 1);
const keep = (): void => lease.renew(Infinity);
const over = { code: 'unavailable', message: expect.stringMatching(/^Another server takes/) };

describe('a server whose turn is over', () => {
  afterEach(keep);

  it('answers no request, which may have waited in its sockets', async () => {
    const server = await new TestServer().start();
    const rule = { scope: 'all', operation: 'terminal.run', pattern: 'ls' };
    const post = () =>
      server.fetch('/api/rules', {
        method: 'POST',
        body: JSON.stringify(rule),
        headers: { 'content-type': 'application/json' },
      });
    lose();
    expect((await post()).status).toBe(503);
    keep();
    expect(await server.json('GET', '/api/rules')).toEqual([]);
    expect((await post()).status).toBe(201);
    await server.close();
  });

  it('takes nothing from agents, which send it again to the next one', async () => {
    const server = await new SandboxServer().open();
    await server.startSession('s');
    const agent = server.agents.get('s');
    const event = {
      n: 1,
      time: new Date().toISOString(),
      action: 'plan',
      args: { markdown: '- [ ] all' },
      message: 'A plan.',
    };
    const append = () => agent?.call('events.append', { session: 's', epoch: 1, events: [event] });
    lose();
    await expect(append()).rejects.toMatchObject(over);
    await expect(agent?.call('terminal.stored', { terminal: 'main' })).rejects.toMatchObject(over);
    await expect(agent?.open('terminal', { terminal: 'main', offset: 0 })).rejects.toMatchObject(
      over,
    );
    keep();
    const seq = (await server.logs.log.lastSeq('s')) + 1;
    expect(await append()).toEqual({ seqs: [seq] });
    await server.close();
  });

  it('takes no output of a terminal whose stream is open', async () => {
    const server = await new SandboxServer().open();
    await server.startSession('s');
    const stream = await server.agents.get('s')?.open('terminal', { terminal: 'main', offset: 0 });
    const broken = new Promise((resolve) => stream?.once('error', resolve));
    lose();
    stream?.write('late');
    expect(await broken).toMatchObject(over);
    keep();
    const agent = server.agents.get('s');
    expect(await agent?.call('terminal.stored', { terminal: 'main' })).toEqual({ offset: 0 });
    await server.close();
  });
});
