import type { AuditPage } from '@belay/protocol';
import { until } from '@belay/testing';
import { AuditLog } from '../../access/audit-log.js';
import { TransientNotices } from '../../logs/transient-notices.js';
import { SessionServers } from '../../peers/session-servers.js';
import { openSocket, PeerSockets, type PeerSocket } from '../../sessions/feed/peer-sockets.js';
import type { LiveServer } from '../../storage/live-servers.js';
import { connected, dashboardSocket, type Socket } from '../../testing/dashboard-socket.js';
import { liveServer } from '../../testing/live-server.js';
import { TestServer } from '../../testing/server.js';

describe('the dashboard’s socket, for a session of another server', () => {
  const owner = new TestServer();
  const other = liveServer();
  let place: LiveServer | undefined = other;
  const links: PeerSocket[] = [];
  let answers = true;
  const lead = new TestServer()
    .replace(SessionServers, {
      other: () => Promise.resolve(place),
      assertOwn: () => Promise.resolve(),
    })
    .replace(PeerSockets, {
      open: () => {
        const extraHeaders = { authorization: `Bearer ${owner.token}` };
        const link = openSocket(answers ? owner.url : 'http://127.0.0.1:1', { extraHeaders });
        links.push(link);
        return link;
      },
    });
  let id: string;
  let socket: Socket;

  beforeAll(async () => {
    await owner.start();
    await lead.start();
  });
  afterAll(async () => {
    await lead.close();
    await owner.close();
  });
  beforeEach(async () => {
    place = other;
    answers = true;
    id = await owner.session();
    socket = await connected(dashboardSocket(lead.url, { authorization: `Bearer ${lead.token}` }));
  });
  afterEach(() => socket.close());

  const ask = (name: string, input: object): Promise<unknown> =>
    socket.emitWithAck(name, { session: id, ...input });
  const done = { ok: true, value: {} };

  it('passes on what is typed, its errors, and what the viewer shows', async () => {
    const audit = jest.spyOn(lead.app.get(AuditLog), 'run');
    const agent = owner.sandboxes.agents.get(id);
    const seqs: number[] = [];
    socket.on('events', ({ events }) =>
      seqs.push(...events.map(({ seq }: { seq: number }) => seq)),
    );
    expect(await ask('watch', { after: 0 })).toEqual(done);
    await until('the log', async () => seqs.at(-1) === (await owner.log.lastSeq(id)));
    expect(await ask('terminal.keys', { terminal: 'main', data: 'ls' })).toEqual(done);
    const size = { columns: 80, rows: 24 };
    expect(await ask('terminal.fit', { terminal: 'main', size })).toEqual(done);
    expect(await ask('browser.watch', { watched: true })).toEqual(done);
    expect(agent?.calls).toEqual([
      { name: 'terminal.keys', input: { terminal: 'main', data: 'ls' } },
      { name: 'terminal.resize', input: { terminal: 'main', ...size } },
      { name: 'browser.watch', input: { watched: true } },
    ]);
    expect(audit).not.toHaveBeenCalled();
    const frames: unknown[] = [];
    socket.on('frame', ({ url }) => frames.push(url));
    const picture = { jpeg: Buffer.from('x'), width: 1, height: 1, url: 'http://a' };
    owner.app.get(TransientNotices).frame(id, picture);
    await until('the picture', () => frames.length > 0);
    await owner.json('POST', `/api/sessions/${id}/stop`, {});
    owner.sandboxes.agents.delete(id);
    expect(await ask('terminal.open', { terminal: 'main' })).toMatchObject({
      error: { code: 'conflict' },
    });
    socket.close();
  });

  it('tells that server what the viewer shows, also what it showed before, and again after a break', async () => {
    const agent = owner.sandboxes.agents.get(id);
    place = undefined;
    const size = { columns: 80, rows: 24 };
    expect(await ask('terminal.fit', { terminal: 'main', size })).toEqual(done);
    expect(await ask('browser.watch', { watched: true })).toEqual(done);
    expect(agent?.calls).toEqual([]);
    place = other;
    const shown = [
      { name: 'terminal.resize', input: { terminal: 'main', ...size } },
      { name: 'browser.watch', input: { watched: true } },
    ];
    expect(await ask('watch', { after: 0 })).toEqual(done);
    await until('it is told', () => agent?.calls.length === 2);
    expect(agent?.calls).toEqual(shown);
    links.at(-1)?.io.engine.close();
    // Between both, the agent may be told that nobody shows the browser.
    const resized = () => agent?.calls.filter(({ name }) => name === 'terminal.resize').length;
    await until('it is told again', () => resized() === 2);
    expect(await ask('terminal.fit', { terminal: 'main', size: null })).toEqual(done);
    expect(await ask('unwatch', {})).toEqual(done);
    await until('the connection ends', () => links.every(({ connected }) => !connected));
  });

  it('records what that server does not answer', async () => {
    answers = false;
    const unavailable = { ok: false, error: { code: 'unavailable' } };
    for (const data of ['l', 's'])
      expect(await ask('terminal.keys', { terminal: 'main', data })).toMatchObject(unavailable);
    expect(await ask('terminal.open', { terminal: 'main' })).toMatchObject(unavailable);
    const recorded = async () => {
      const { entries } = await lead.json<AuditPage>('GET', `/api/audit?session=${id}`);
      return entries.map(({ caller, action, outcome }) => `${caller} ${action} ${outcome}`);
    };
    const lost = ['owner terminal.open unavailable', 'owner terminal.keys unavailable'];
    expect(await recorded()).toEqual(lost);
    answers = true;
    expect(await ask('terminal.keys', { terminal: 'main', data: 'x' })).toEqual(done);
    owner.sandboxes.agents.delete(id);
    expect(await ask('terminal.keys', { terminal: 'main', data: 'x' })).toMatchObject({
      error: { code: 'conflict' },
    });
    expect(await recorded()).toEqual(lost);
  });

  it('lets viewers only watch', async () => {
    const viewer = await connected(
      dashboardSocket(lead.url, { authorization: `Bearer ${lead.viewerToken}` }),
    );
    const keys = { session: id, terminal: 'main', data: 'ls' };
    expect(await viewer.emitWithAck('terminal.keys', keys)).toMatchObject({
      error: { code: 'forbidden' },
    });
    viewer.close();
  });
});
