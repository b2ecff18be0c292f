import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectSecurely, type TLSSocket } from 'node:tls';
import type { V1Secret } from '@kubernetes/client-node';
import { isPublicAddress } from '@belay/host';
import { until } from '@belay/testing';
import type { DialIn } from '../container-host.js';
import { certify, newAuthority, type CertifiedKey } from './agent-authority.js';
import { AgentPort } from './agent-port.js';
import { closedApiAddresses } from './closed-addresses.js';
import { Cluster } from './cluster.js';
import { keys } from './names.js';
import { podName, type PodPlace } from './pod-parts.js';
import { PodStarts } from './pod-starts.js';
import { nodeOfPlayed, PlayedCluster } from './testing/played-cluster.js';

const host = '127.0.0.1';
const instance = 'mine';

describe('attacks: a pod that goes on although it was removed', () => {
  const played = new PlayedCluster();
  let folder: string;
  let authority: CertifiedKey;
  let port: AgentPort;
  let starts: PodStarts;
  const dials: DialIn[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-cluster-'));
    await played.open();
    const kubeconfig = join(folder, 'config');
    await played.writeConfig(kubeconfig);
    authority = await newAuthority();
    port = await AgentPort.open({ host, port: 0 }, await certify(authority, host));
    port.onDial((_, dial) => dials.push(dial));
    const cluster = new Cluster({ kubeconfig, namespace: 'sandboxes', agentSandbox: false });
    const place = { instance, trusted: authority.certificate } as PodPlace;
    starts = new PodStarts(cluster, port, place, 'FILES');
  });
  afterAll(async () => {
    await port.close();
    await played.close();
    await rm(folder, { recursive: true });
  });

  /** Starts a pod; returns the token that it dials with. */
  async function started(id: string): Promise<string> {
    const pod = ({ tokenHash }: PodPlace) => ({
      metadata: { name: podName(instance, id), annotations: { [keys.token]: tokenHash } },
    });
    await starts.start({ id, pod, signal: new AbortController().signal });
    const secret = played.posted.at(-1)?.body as V1Secret;
    return secret.stringData?.['token'] ?? '';
  }
  /** As its agent does. */
  async function dial(token: string): Promise<TLSSocket> {
    const socket = connectSecurely({ host, port: port.port, ca: authority.certificate });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    socket.write(
      `GET /agent HTTP/1.1\r\nhost: agent\r\nconnection: Upgrade\r\nupgrade: websocket\r\nauthorization: Bearer ${token}\r\n\r\n`,
    );
    return socket;
  }
  async function admitted(token: string): Promise<TLSSocket> {
    const before = dials.length;
    const socket = await dial(token);
    await until('it is admitted', () => dials.length > before);
    return socket;
  }

  it('on a node that is away is refused at once, with its token and its connection', async () => {
    const [left, other] = [await started('left'), await started('other')];
    const [ended, honest] = [await admitted(left), await admitted(other)];
    played.isNodeAway = true;
    const removal = starts.remove('left');
    await until('its connection ends', () => ended.destroyed);
    expect(await text(await dial(left))).toContain('503');
    expect(honest.destroyed).toBe(false);
    await admitted(other);
    played.isNodeAway = false;
    await removal;
  });

  it('in a cluster that does not answer is kept, as nothing has ended it', async () => {
    const token = await started('kept');
    const socket = await admitted(token);
    played.isAway = true;
    await expect(starts.remove('kept')).rejects.toMatchObject({ code: 'unavailable' });
    expect(socket.destroyed).toBe(false);
    await admitted(token);
    played.isAway = false;
    await starts.remove('kept');
    expect(await text(await dial(token))).toContain('503');
  });

  it('leaves the public addresses of its node and of the API server closed to sandboxes', async () => {
    const [api, others] = ['198.51.100.30', ['198.51.100.21', '198.51.100.31']];
    await started('on-node');
    expect(await closedApiAddresses(`https://${api}:6443`)).toEqual([api]);
    expect([nodeOfPlayed, api, ...others].filter(isPublicAddress)).toEqual(others);
  });
});
