import { until } from '@belay/testing';
import type { Seen } from '../container-host.js';
import type { KubernetesHost } from './kubernetes-host.js';
import { PlayedHosts } from './testing/played-hosts.js';
import { playedSpec } from './testing/played-spec.js';
import { unscheduled } from './testing/unscheduled.js';

const never = new AbortController().signal;
const { id, files } = playedSpec;

const hosts = new PlayedHosts();
const { cluster } = hosts;
let host: KubernetesHost;
beforeAll(() => hosts.play());
beforeEach(async () => {
  host = await hosts.open({
    storageClass: 'local',
    unconfined: { isAllowed: true, setting: 'ALLOW' },
  });
});
afterEach(async () => {
  await host.removeFiles(files);
  await host.close();
});
afterAll(() => hosts.close());

describe('a pod whose node is lost', () => {
  beforeEach(async () => {
    await host.start(playedSpec, never);
    expect(await host.hasFiles(files)).toBe(true);
    cluster.loseNode();
  });

  it('is not waited for, and no other pod gets its files before the node has ended it', async () => {
    await host.remove(id);
    expect(await host.look(id)).toMatchObject({
      state: 'ended',
      why: expect.stringContaining('its node does not respond') as string,
    });
    expect(await host.hasFiles(files)).toBe(false);
    expect(await host.storedFiles()).toEqual([files]);
    cluster.returnNode();
    expect(await host.look(id)).toMatchObject({ state: 'gone' });
    expect(await host.hasFiles(files)).toBe(true);
  });

  it('goes with its files when these are removed', async () => {
    await host.remove(id);
    await host.removeFiles(files);
    expect(await host.look(id)).toMatchObject({ state: 'gone' });
    expect(await host.storedFiles()).toEqual([]);
  });
});

describe('a pod whose node is lost, and of which a container had ended before', () => {
  const minuteMs = 60_000;
  const stop = new AbortController();
  afterAll(() => stop.abort());

  it('is seen to end once it should have ended', async () => {
    await host.start(playedSpec, never);
    cluster.loseNode({ isReady: false });
    const seen: (Seen | 'synced')[] = [];
    const follow = async () => {
      for await (const one of host.watch(stop.signal)) seen.push(one);
    };
    void follow();
    await until('it is listed', () => seen.includes('synced'));
    expect(seen).toMatchObject([{ id, state: 'running', label: 'session' }, 'synced']);
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + minuteMs);
    await until('it is lost', () => seen.length > 2);
    expect(seen.slice(2)).toEqual([{ id, state: 'ended' }]);
    await host.remove(id);
    expect(await host.hasFiles(files)).toBe(false);
    now.mockRestore();
    cluster.returnNode();
    expect(await host.look(id)).toMatchObject({ state: 'gone' });
    expect(await host.hasFiles(files)).toBe(true);
  });
});

describe('files that no node of the cluster has', () => {
  const minuteMs = 60_000;
  const elsewhere = "1 node(s) didn't match PersistentVolume's node affinity";
  const { status } = cluster;
  const { now } = Date;
  beforeEach(async () => {
    await host.start(playedSpec, never);
    await host.remove(id);
    expect(await host.hasFiles(files)).toBe(true);
    let passed = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + (passed += minuteMs));
  });
  afterEach(() => {
    jest.restoreAllMocks();
    cluster.status = status;
  });
  const unschedulable = (reasons: string) => {
    cluster.status = unscheduled(`0/2 nodes are available: ${reasons}.`);
  };

  it('are not there for another start, and can be removed', async () => {
    unschedulable(elsewhere);
    await expect(host.start(playedSpec, never)).rejects.toThrow(
      `no node takes it: 0/2 nodes are available: ${elsewhere}.`,
    );
    expect(await host.hasFiles(files)).toBe(false);
    expect(await host.storedFiles()).toEqual([files]);
    await host.removeFiles(files);
    expect(await host.storedFiles()).toEqual([]);
  });

  it('are still there when a node may have them that is full', async () => {
    unschedulable(`1 Insufficient memory, ${elsewhere}`);
    await expect(host.start(playedSpec, never)).rejects.toThrow('no node takes it');
    expect(await host.hasFiles(files)).toBe(true);
  });

  it('are not there when their volume is lost', async () => {
    cluster.status = { phase: 'Lost' };
    await host.start({ ...playedSpec, id: 'another', files: 'lost' }, never).catch(() => {});
    cluster.status = status;
    expect(await host.hasFiles('lost')).toBe(false);
    await host.remove('another');
    await host.removeFiles('lost');
  });
});
