import { createHash, randomBytes } from 'node:crypto';
import { newEvent, type AppError } from '@belay/protocol';
import { memoryInUse, pause, until } from '@belay/testing';
import { ownerCaller } from '../../access/caller.js';
import { EventLog } from '../../logs/event-log.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { TransientNotices } from '../../logs/transient-notices.js';
import { PeerWatch } from '../../peers/peer-watch.js';
import type { SessionServers } from '../../peers/session-servers.js';
import type { LiveServer, LiveServers } from '../../storage/live-servers.js';
import { liveServer } from '../../testing/live-server.js';
import { TestServer } from '../../testing/server.js';
import type { SessionRemoval } from '../session-removal.js';
import { EventFeed } from './event-feed.js';
import { terminalBehind, terminalWindow } from './feed-limits.js';
import type { FeedNotices, Follower, FollowedBytes } from './follower.js';
import {
  openSocket,
  pauseReading,
  PeerSockets,
  resumeReading,
  type PeerSocket,
} from './peer-sockets.js';
import { RemoteFollowers } from './remote-followers.js';
import { SessionFollowers } from './session-followers.js';

/** A connection that remembers what it was sent. */
class Client implements Follower {
  readonly caller = ownerCaller;
  isOpen = true;
  isCongested = false;
  /** Whether it acknowledges bytes. */
  takes = true;
  readonly seqs: number[] = [];
  readonly names: string[] = [];
  readonly ends: string[] = [];
  size = 0;
  readonly #hash = createHash('sha256');
  #drained = Promise.withResolvers<void>();

  get digest(): string {
    return this.#hash.copy().digest('hex');
  }

  drain(): void {
    this.isCongested = false;
    this.#drained.resolve();
    this.#drained = Promise.withResolvers();
  }

  drained(): Promise<void> {
    return this.#drained.promise;
  }

  send<N extends keyof FeedNotices>(name: N, notice: FeedNotices[N]): void {
    this.names.push(name);
    if ('events' in notice) this.seqs.push(...notice.events.map(({ seq }) => seq));
  }

  sendBytes({ offset, bytes }: FollowedBytes): Promise<void> {
    if (offset !== this.size) this.ends.push(`a gap from ${this.size} to ${offset}`);
    this.size = offset + bytes.length;
    this.#hash.update(bytes);
    return this.takes ? Promise.resolve() : new Promise(() => {});
  }

  gone(session: string, { code }: AppError): void {
    this.ends.push(`gone ${code}`);
  }

  failed(session: string, error: unknown): void {
    this.ends.push(`failed ${String(error)}`);
  }
}

describe('followers of sessions that another server has', () => {
  /** Where the session is; the lead is only its followers, and reads the same database. */
  const owner = new TestServer();
  const other = liveServer();
  const opened: PeerSocket[] = [];
  let alive: LiveServer[];
  const watch = new PeerWatch({ others: () => Promise.resolve(alive) } as unknown as LiveServers);
  let place: LiveServer | undefined;
  let remote: RemoteFollowers;
  let followers: SessionFollowers<Client>;
  let terminals: TerminalLog;
  let id: string;

  beforeAll(() => owner.start());
  afterAll(() => owner.close());
  beforeEach(async () => {
    id = await owner.session();
    place = other;
    alive = [other];
    terminals = owner.app.get(TerminalLog);
    const servers = { other: () => Promise.resolve(place) } as unknown as SessionServers;
    remote = new RemoteFollowers(owner.log, servers, sockets(), watch);
    const removal = { onRemoved: () => () => {} } as unknown as SessionRemoval;
    const live = new TransientNotices();
    followers = new SessionFollowers(
      { log: owner.app.get(EventLog), terminals, live, removal, remote },
      {
        maxSessions: 5,
        sendAll: (to, name, notice) => {
          for (const each of to) each.send(name, notice);
        },
      },
    );
  });
  afterEach(() => {
    followers.close();
    remote.onModuleDestroy();
    opened.length = 0;
  });

  const sockets = (onOpen?: (socket: PeerSocket) => unknown): PeerSockets => ({
    open: () => {
      const extraHeaders = { authorization: `Bearer ${owner.token}` };
      const socket = openSocket(owner.url, { extraHeaders });
      opened.push(socket);
      onOpen?.(socket);
      return socket;
    },
  });
  const plan = () =>
    owner.log.append(id, [newEvent('agent', 'plan', { args: { markdown: '' }, message: '' })]);
  const follow = async (more: object = {}): Promise<Client> => {
    const made = new Client();
    await followers.add(made, { session: id, after: 0, terminals: {}, ...more });
    return made;
  };
  const key = (data: string) => ['terminal.keys', { session: id, terminal: 'main', data }] as const;
  const askedOver = () => {
    const asked: string[] = [];
    const noting = (socket: PeerSocket) =>
      socket.onAnyOutgoing((name: string, { data }: { data: string }) => asked.push(name + data));
    return { asked, noting };
  };
  const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);
  const has = (client: Client) => async () => client.seqs.at(-1) === (await owner.log.lastSeq(id));

  it('get events, terminals and what is not stored', async () => {
    await terminals.append(id, 'main', 0, Buffer.from('before '));
    const client = await follow();
    await until('the log', has(client));
    await plan();
    await terminals.append(id, 'main', 7, Buffer.from('and after'));
    await until('what is live', has(client));
    await until('all bytes', () => client.size === 16);
    owner.app.get(TransientNotices).delta(id, 'text', 'Hel');
    await until('the delta', () => client.names.includes('delta'));
    expect(client.seqs).toEqual(upTo(await owner.log.lastSeq(id)));
    expect(client.ends).toEqual([]);
    followers.remove(client, id);
    await until('the connection ends', () => opened.every(({ connected }) => !connected));
  });

  it('miss nothing, and get nothing twice, however often the connection breaks or the session moves', async () => {
    const client = await follow();
    const sent = createHash('sha256');
    let size = 0;
    for (let n = 0; n < 300 || opened.length < 8; n += 1) {
      const bytes = randomBytes(1 + ((n * 977) % 3_000));
      sent.update(bytes);
      await Promise.all([plan(), terminals.append(id, 'main', size, bytes)]);
      size += bytes.length;
      const socket = opened.at(-1);
      if (n % 7 === 0 && socket?.connected) socket.io.engine.close();
      if (n % 31 === 0) {
        place = place ? undefined : other;
        owner.log.elsewhere.moved(id);
      }
      // Whoever is too far behind would be skipped forward.
      if (size - client.size > terminalBehind / 2)
        await until('it has most of it', () => size - client.size < terminalWindow);
    }
    await until('all events', has(client));
    await until('all bytes', () => client.size === size);
    expect(client.seqs).toEqual(upTo(await owner.log.lastSeq(id)));
    expect(client.ends).toEqual([]);
    expect(client.digest).toBe(sent.digest('hex'));
  });

  it('are moved with their session when it is handed over while they follow it', async () => {
    place = undefined;
    const client = await follow();
    await until('the log', has(client));
    await terminals.append(id, 'main', 0, Buffer.from('here '));
    await until('the bytes', () => client.size === 5);
    expect(opened).toEqual([]);
    place = other;
    owner.log.elsewhere.moved(id);
    await until('the other server', () => opened.at(0)?.connected === true);
    await plan();
    await terminals.append(id, 'main', 5, Buffer.from('there'));
    await until('what is live', has(client));
    await until('all bytes', () => client.size === 10);
    expect(client.seqs).toEqual(upTo(await owner.log.lastSeq(id)));
    expect(client.ends).toEqual([]);
  });

  it.each(['at once', 'after they left'])(
    'that ask again before they were answered, %s, get all as asked last',
    async (how) => {
      const client = new Client();
      const ends = { local: () => {}, gone: () => {}, failed: () => {} };
      const request = { session: id, after: 0, terminals: 'none' } as const;
      const last = await owner.log.lastSeq(id);
      const asked = [remote.add(client, { ...request, after: last }, ends)];
      if (how === 'after they left') remote.remove(client, id);
      asked.push(remote.add(client, request, ends));
      await Promise.all(asked);
      await until('the log', has(client));
      await plan();
      await until('what is live', has(client));
      expect(client.seqs).toEqual(upTo(await owner.log.lastSeq(id)));
    },
  );

  it('keep no connection for what they were refused', async () => {
    await expect(follow({ after: 999_999 })).rejects.toMatchObject({ code: 'invalid_input' });
    await until('the connection ends', () => opened.length === 1 && !opened[0]?.connected);
  });

  it('are obeyed in order before it is known who has the session', async () => {
    const { asked, noting } = askedOver();
    let wait = 20;
    const servers = {
      other: async () => {
        await pause((wait = Math.max(0, wait - 10)), 'to answer the first question last');
        return other;
      },
    } as unknown as SessionServers;
    const ordered = new RemoteFollowers(owner.log, servers, sockets(noting), watch);
    const client = new Client();
    const keys = ['a', 'b', 'c', 'd'];
    await Promise.all(keys.map((data) => ordered.request(client, ...key(data))));
    expect(asked).toEqual(keys.map((data) => `terminal.keys${data}`));
    ordered.onModuleDestroy();
  });

  it('are obeyed in order when they follow the session while its server is looked for', async () => {
    const { asked, noting } = askedOver();
    const late = Promise.withResolvers<LiveServer>();
    const found = [late.promise];
    const servers = {
      other: () => found.pop() ?? Promise.resolve(other),
    } as unknown as SessionServers;
    const ordered = new RemoteFollowers(owner.log, servers, sockets(noting), watch);
    const client = new Client();
    const first = ordered.request(client, ...key('a'));
    const ends = { local: () => {}, gone: () => {}, failed: () => {} };
    await ordered.add(client, { session: id, after: 0, terminals: 'none' }, ends);
    const second = ordered.request(client, ...key('b'));
    late.resolve(other);
    await Promise.all([first, second]);
    expect(asked.filter((each) => each.startsWith('terminal'))).toEqual([
      'terminal.keysa',
      'terminal.keysb',
    ]);
    ordered.onModuleDestroy();
  });

  it('go on when the connection breaks as the other server answers', async () => {
    const servers = { other: () => Promise.resolve(place) } as unknown as SessionServers;
    const breaking = (socket: PeerSocket): void => {
      const ask = socket.emitWithAck.bind(socket);
      socket.emitWithAck = async (...asked) => {
        const answer = await ask(...asked);
        if (socket === opened[0]) socket.disconnect();
        return answer;
      };
    };
    const broken = new RemoteFollowers(owner.log, servers, sockets(breaking), watch);
    const client = new Client();
    const ends = { local: () => {}, gone: () => {}, failed: () => {} };
    await broken.add(client, { session: id, after: 0, terminals: 'none' }, ends);
    await plan();
    await until('what came later', has(client));
    expect(client.seqs).toEqual(upTo(await owner.log.lastSeq(id)));
    broken.onModuleDestroy();
  });

  it('are refused what was asked when its machine is dead, and follow the session elsewhere', async () => {
    const client = await follow({ terminals: 'none' });
    await until('the log', has(client));
    const [dead] = opened as [PeerSocket];
    pauseReading(dead);
    const asked = remote.request(client, ...key('a'));
    alive = [];
    place = undefined;
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' });
    // It does not wait until the answer is late.
    expect(dead.connected).toBe(false);
    resumeReading(dead);
    await plan();
    await until('what came later', has(client));
    expect(client.seqs).toEqual(upTo(await owner.log.lastSeq(id)));
    expect(client.ends).toEqual([]);
  });

  it('hold the other server back while they accept nothing, and then get all events', async () => {
    const stalled = await follow({ terminals: 'none' });
    await until('the log', has(stalled));
    const fine = await follow({ terminals: 'none' });
    stalled.isCongested = true;
    const before = memoryInUse();
    const args = { markdown: 'x'.repeat(50_000) };
    for (let n = 0; n < 1_000; n += 1)
      await owner.log.append(id, [newEvent('agent', 'plan', { args, message: '' })]);
    await until('the other has all', has(fine));
    const { arrayBuffers, heapUsed } = memoryInUse();
    expect(arrayBuffers + heapUsed - before.arrayBuffers - before.heapUsed).toBeLessThan(20e6);
    stalled.drain();
    await until('all events', has(stalled));
    expect(stalled.seqs).toEqual(upTo(await owner.log.lastSeq(id)));
  });

  it('are not sent more bytes than they acknowledge', async () => {
    const client = await follow({ terminals: 'now' });
    client.takes = false;
    const piece = Buffer.alloc(64 * 1024, 'x');
    for (let at = 0; at < 12; at += 1) await terminals.append(id, 'main', at * piece.length, piece);
    await plan();
    await until('what came later', has(client));
    expect(client.size).toBeLessThanOrEqual(4 * piece.length);
  });

  it('with `now`, begin with what is printed next, also after a break', async () => {
    await terminals.append(id, 'main', 0, Buffer.from('before'));
    const client = await follow({ terminals: 'now' });
    client.size = 6;
    opened.at(-1)?.io.engine.close();
    await terminals.append(id, 'main', 6, Buffer.from(' and after'));
    await until('the bytes', () => client.size === 16);
    expect(client.ends).toEqual([]);
  });

  it('wait for events as readers of the log, over one connection', async () => {
    const log = {
      subscribe: () => () => {},
      onMoved: () => () => {},
      lastSeq: () => owner.log.lastSeq(id),
      summary: () => owner.log.summary(id),
      read: (_: string, range: { after: number }) => owner.log.read(id, range),
    } as unknown as EventLog;
    const removal = { onRemoved: () => () => {} } as unknown as SessionRemoval;
    const feed = new EventFeed(log, removal, remote);
    const begun = await owner.log.lastSeq(id);
    const ended = new AbortController();
    const pages = feed.follow(id, { after: begun }, ended.signal);
    for (let n = 1; n <= 20; n += 1) {
      const page = pages.next();
      if (n === 1) await until('it follows', () => opened.at(0)?.connected === true);
      await plan();
      const { value } = await page;
      expect(value?.map(({ seq }) => seq)).toEqual([begun + n]);
    }
    ended.abort();
    await pages.return();
    expect(opened.length).toBe(1);
    await until('the connection ends', () => !opened.at(0)?.connected);
  });

  it('get all again when they ask from the beginning, over the same connection or another', async () => {
    await terminals.append(id, 'main', 0, Buffer.from('some output'));
    const client = await follow();
    await until('the log', has(client));
    await until('all bytes', () => client.size === 11);
    client.seqs.length = 0;
    client.size = 0;
    const writing = Array.from({ length: 20 }, () => plan());
    await followers.add(client, { session: id, after: 0, terminals: {} });
    await Promise.all(writing);
    await until('the log again', async () => client.seqs.includes(1) && (await has(client)()));
    await until('all bytes again', () => client.size === 11);
    expect(client.ends).toEqual([]);
    const last = await owner.log.lastSeq(id);
    // What came of the earlier request until then precedes it.
    expect(client.seqs.slice(-last)).toEqual(upTo(last));
  });

  it('are told of a session that is not there, or no longer', async () => {
    const none = new Client();
    const request = { session: 'none', after: 0, terminals: 'none' } as const;
    await expect(followers.add(none, request)).rejects.toMatchObject({ code: 'not_found' });
    const client = await follow();
    await owner.json('DELETE', `/api/sessions/${id}`);
    await until('it is told', () => client.ends.length > 0);
    expect(client.ends).toEqual(['gone not_found']);
  });

  it.each([
    ['its server ends', () => opened[0]?.io.engine.close()],
    ['its row is missed', () => owner.log.elsewhere.moved(id)],
  ])('are told of a session that was deleted when %s before it says so', async (_when, notice) => {
    const client = await follow();
    await until('the log', has(client));
    opened[0]?.off('gone');
    await owner.json('DELETE', `/api/sessions/${id}`);
    place = undefined;
    notice();
    await until('it is told', () => client.ends.length > 0);
    expect(client.ends).toEqual(['gone not_found']);
  });
});
