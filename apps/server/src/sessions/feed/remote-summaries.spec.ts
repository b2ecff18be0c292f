import { until } from '@belay/testing';
import { Elsewhere } from '../../logs/elsewhere.js';
import type { EventLog } from '../../logs/event-log.js';
import { LogListeners } from '../../logs/log-listeners.js';
import type { OtherSessions } from '../../peers/other-sessions.js';
import type { LiveServer } from '../../storage/live-servers.js';
import { liveServer } from '../../testing/live-server.js';
import { TestServer } from '../../testing/server.js';
import { openSocket, type PeerSocket } from './peer-sockets.js';
import { RemoteSummaries } from './remote-summaries.js';

describe('the summaries of another server', () => {
  const owner = new TestServer();
  const other = liveServer();
  beforeAll(() => owner.start());
  afterAll(() => owner.close());

  it('show what is not in its logs, as long as it is connected', async () => {
    const id = await owner.session();
    const listeners = new LogListeners();
    const elsewhere = new Elsewhere(listeners);
    const shown = new Map<string, string | undefined>();
    listeners.addForSummaries((session, summary) => shown.set(session, summary?.state));
    let look: (servers: LiveServer[]) => void = () => {};
    const others = {
      onLook: (listener: typeof look) => {
        look = listener;
        return () => {};
      },
      serverOf: () => other.id,
    } as unknown as OtherSessions;
    const opened: PeerSocket[] = [];
    const sockets = {
      open: () => {
        const extraHeaders = { authorization: `Bearer ${owner.token}` };
        opened.push(openSocket(owner.url, { extraHeaders }));
        return opened.at(-1) as PeerSocket;
      },
    };
    const log = { isOwned: () => false, elsewhere } as unknown as EventLog;
    const summaries = new RemoteSummaries(log, others, sockets);
    look([other]);
    look([other]);
    await until('the first summaries', () => shown.get(id) === 'running');
    const row = await owner.log.summary(id);
    owner.log.absences.begin(id);
    await until('it cannot be reached', () => shown.get(id) === 'waiting');
    expect(elsewhere.shown(row).state).toBe('waiting');
    expect(elsewhere.shown({ ...row, lastSeq: row.lastSeq + 1 }).state).toBe('running');
    owner.log.absences.end(id);
    await until('it can be reached again', () => shown.get(id) === 'running');
    look([]);
    expect(elsewhere.shown(row)).toBe(row);
    await until('the connection ends', () => opened.every(({ connected }) => !connected));
    expect(opened.length).toBe(1);
    summaries.onModuleDestroy();
  });
});
