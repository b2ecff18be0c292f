import { newEvent, type AppError } from '@belay/protocol';
import { until } from '@belay/testing';
import { ownerCaller } from '../../access/caller.js';
import { TerminalFiles } from '../../logs/terminal-files.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { TransientNotices } from '../../logs/transient-notices.js';
import { TestLogs } from '../../testing/logs.js';
import type { SessionRemoval } from '../session-removal.js';
import { eventsPage, terminalWindow } from './feed-limits.js';
import type { FeedNotices, Follower, FollowedBytes } from './follower.js';
import type { RemoteFollowers } from './remote-followers.js';
import { SessionFollowers } from './session-followers.js';

/** One server alone. */
const noOthers = {
  find: () => Promise.resolve(undefined),
  remove: () => {},
} as unknown as RemoteFollowers;

/** A connection that takes what it is sent when the test says so. */
class Connection implements Follower {
  readonly caller = ownerCaller;
  isOpen = true;
  isCongested = false;
  readonly seqs: number[] = [];
  readonly names: string[] = [];
  readonly bytes: FollowedBytes[] = [];
  readonly ends: string[] = [];
  #drained = Promise.withResolvers<void>();
  #taken = Promise.withResolvers<void>();

  drain(): void {
    this.isCongested = false;
    this.#drained.resolve();
    this.#drained = Promise.withResolvers();
  }

  /** Acknowledges all bytes that it was sent. */
  take(): void {
    this.#taken.resolve();
    this.#taken = Promise.withResolvers();
  }

  drained(): Promise<void> {
    return this.#drained.promise;
  }

  send<N extends keyof FeedNotices>(name: N, notice: FeedNotices[N]): void {
    this.names.push(name);
    if ('events' in notice) this.seqs.push(...notice.events.map(({ seq }) => seq));
  }

  sendBytes(bytes: FollowedBytes): Promise<void> {
    this.bytes.push(bytes);
    return this.#taken.promise;
  }

  gone(session: string, { code }: AppError): void {
    this.ends.push(`${session} ${code}`);
  }

  failed(session: string): void {
    this.ends.push(`${session} failed`);
  }
}

describe('followers of sessions', () => {
  const logs = new TestLogs();
  const live = new TransientNotices();
  const removed = new Set<(session: string) => void>();
  let files: TerminalFiles;
  let terminals: TerminalLog;
  let followers: SessionFollowers<Connection>;
  /** How many each live notice went to at once. */
  let together: number[];
  /** Events that the log begins with. */
  let begun: number;

  beforeEach(async () => {
    await logs.open();
    files = new TerminalFiles(logs.config);
    terminals = new TerminalLog(logs.config, files);
    together = [];
    const removal = {
      onRemoved: (listener: (session: string) => void) => {
        removed.add(listener);
        return () => removed.delete(listener);
      },
    } as unknown as SessionRemoval;
    followers = new SessionFollowers(
      { log: logs.log, terminals, live, removal, remote: noOthers },
      {
        maxSessions: 2,
        sendAll: (to, name, notice) => {
          together.push(to.length);
          for (const each of to) each.send(name, notice);
        },
      },
    );
    await logs.session('s');
    begun = await logs.log.lastSeq('s');
  });
  afterEach(async () => {
    followers.close();
    await files.onApplicationShutdown();
    await logs.log.remove('s');
  });
  afterAll(() => logs.close());

  const plan = (session = 's') =>
    logs.log.append(session, [newEvent('agent', 'plan', { args: { markdown: '' }, message: '' })]);
  const follow = async (more: object = {}): Promise<Connection> => {
    const made = new Connection();
    await followers.add(made, { session: 's', after: 0, terminals: 'none', ...more });
    return made;
  };
  const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

  it('sends what is live once for all that are up to date', async () => {
    const all = [await follow(), await follow(), await follow()];
    await until('the log', () => all.every(({ seqs }) => seqs.length === begun));
    await plan();
    await until('what is live', () => all.every(({ seqs }) => seqs.length === begun + 1));
    expect(together).toEqual([3]);
  });

  it('sends a congested one nothing, and all of the log once it has drained', async () => {
    const [slow, fine] = [await follow(), await follow()];
    await until('the log', () => slow.seqs.length === begun && fine.seqs.length === begun);
    slow.isCongested = true;
    const last = begun + 2 * eventsPage;
    for (let seq = begun; seq < last; seq += 1) await plan();
    live.delta('s', 'text', 'Hel');
    await until('the other has all', () => fine.seqs.length === last);
    expect(fine.names).toContain('delta');
    expect(slow.seqs).toEqual(upTo(begun));
    slow.drain();
    await until('all of the log', () => slow.seqs.length >= last);
    expect(slow.seqs).toEqual(upTo(last));
    expect(slow.names).not.toContain('delta');
  });

  it('sends bytes as far as they are taken, and none to a congested one', async () => {
    const me = await follow({ terminals: {} });
    const piece = Buffer.alloc(64 * 1024, 'x');
    const sent = () => me.bytes.reduce((sum, { bytes }) => sum + bytes.length, 0);
    me.isCongested = true;
    for (let at = 0; at < 8; at += 1) await terminals.append('s', 'main', at * piece.length, piece);
    expect(sent()).toBe(0);
    me.drain();
    await until('a window', () => sent() === terminalWindow);
    me.take();
    await until('the rest', () => sent() === 8 * piece.length);
    expect(me.bytes.map(({ offset }) => offset)).toEqual(
      upTo(8).map((n) => (n - 1) * piece.length),
    );
    await terminals.remove('s');
  });

  it('has a limit for each, which following a session once more is not beyond', async () => {
    await logs.session('t');
    await logs.session('u');
    const me = await follow();
    await followers.add(me, { session: 't', after: 0, terminals: 'none' });
    const third = { session: 'u', after: 0, terminals: 'none' } as const;
    await expect(followers.add(me, third)).rejects.toMatchObject({ code: 'limit_reached' });
    await followers.add(me, { session: 's', after: begun, terminals: 'none' });
    followers.remove(me, 't');
    await followers.add(me, third);
    await logs.log.remove('t');
    await logs.log.remove('u');
  });

  it('tells those that follow, once, that it was deleted or cannot be read', async () => {
    const [me, left] = [await follow(), await follow()];
    followers.remove(left);
    for (const listener of removed) listener('s');
    const read = jest.spyOn(logs.log, 'read').mockRejectedValueOnce(new Error('no database'));
    const other = await follow();
    await until('it is told', () => other.ends.length > 0);
    read.mockRestore();
    await plan();
    expect([me.ends, left.ends, other.ends]).toEqual([['s not_found'], [], ['s failed']]);
    expect(other.seqs).toEqual([]);
  });
});
