import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { KubeConfig, type V1Pod } from '@kubernetes/client-node';

interface Stored {
  metadata?: { name?: string; deletionTimestamp?: string };
  spec?: unknown;
  status?: unknown;
}

/** What was sent to a cluster to be made. */
interface Posted {
  path: string;
  body: Stored;
}

/**
 * A cluster's API server that keeps objects in memory, and checks nothing of them. Its pods have ended as soon as they are
 * there, its network is confined, and it allows everything.
 */
export class PlayedCluster {
  readonly posted: Posted[] = [];
  /** Of what is made. */
  status: object = done;
  /** What is deleted stays for now, as pods of a node that is away do. */
  isNodeAway = false;
  /** Every request fails. */
  isAway = false;
  /** The paths of what was to be deleted. */
  readonly deleted: string[] = [];
  /** By path. */
  readonly #objects = new Map<string, Stored>();
  /** What makes the pods of Sandboxes, by path. */
  readonly #controller = new Map<string, () => void>();
  readonly #server: Server = createServer(
    (request, response) => void this.#answer(request, response),
  );

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async open(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  /** Writes the access to it. */
  async writeConfig(path: string): Promise<void> {
    const config = new KubeConfig();
    // Without encryption, the client wants to be told that nothing is verified.
    const played = { name: 'played', server: this.url, skipTLSVerify: true };
    config.loadFromClusterAndUser(played, { name: 'belay' });
    await writeFile(path, config.exportConfig());
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const found = this.#objects.get(pathname);
    if (this.isAway) answerWith(response, 500, { kind: 'Status', code: 500 });
    else if (request.method === 'POST') {
      const body = (await json(request)) as Stored;
      this.posted.push({ path: pathname, body });
      answerWith(response, 201, this.#made(pathname, body));
    } else if (pathname.endsWith('/log')) {
      response.setHeader('content-type', 'text/plain').end(this.#printed(pathname));
    } else if (searchParams.has('watch')) {
      // Nothing has changed since.
      response.end();
    } else if (/\/(pods|persistentvolumeclaims)$/.test(pathname)) {
      answerWith(response, 200, { items: this.#in(pathname) });
    } else if (!found) {
      answerWith(response, 404, { kind: 'Status', code: 404 });
      this.#controller.get(pathname)?.();
    } else {
      if (request.method === 'DELETE') this.deleted.push(pathname);
      const isForced = searchParams.get('gracePeriodSeconds') === '0';
      if (!this.isNodeAway)
        for (const path of this.deleted) this.#delete(path, isForced && path === pathname);
      answerWith(response, 200, found);
    }
  }

  /**
   * The node of all pods is away, and the cluster gives it up: it deletes them, but they stay. One of their containers may
   * have ended before.
   */
  loseNode({ isReady = true } = {}): void {
    const status = isReady ? lost : lostUnready;
    for (const [path, pod] of this.#objects)
      if (path.includes('/pods/')) this.#objects.set(path, { ...pod, ...deletedBy(pod), status });
  }

  /** The node responds again, and ends what was deleted. */
  returnNode(): void {
    for (const [path, pod] of this.#objects) if (isOnLostNode(pod)) this.#delete(path, true);
  }

  #in(folder: string): Stored[] {
    return [...this.#objects].flatMap(([path, one]) => (path.startsWith(`${folder}/`) ? one : []));
  }

  /** A pod of a lost node stays unless it is forced to go, and a claim while there is a pod with it. */
  #delete(path: string, isForced: boolean): void {
    const found = this.#objects.get(path);
    if (!found) return;
    const pods = this.#in(path.replace(/[^/]+\/[^/]+$/, 'pods'));
    const isUsed = (claim: Stored) => pods.some((pod) => usesClaim(pod, claim.metadata?.name));
    if ((isOnLostNode(found) && !isForced) || isUsed(found))
      this.#objects.set(path, { ...found, ...deletedBy(found) });
    else this.#objects.delete(path);
    const left = [...this.#objects].filter(([one]) => one.includes('/persistentvolumeclaims/'));
    if (path.includes('/pods/'))
      for (const [one, claim] of left)
        if (claim.metadata?.deletionTimestamp) this.#delete(one, false);
  }

  /** A Sandbox has its pod a moment later: once somebody has looked for it. */
  #made(path: string, { metadata, ...body }: Stored): Stored {
    const made = {
      ...body,
      status: this.status,
      metadata: { ...metadata, uid: `uid-${this.#objects.size}` },
    };
    this.#objects.set(`${path}/${metadata?.name}`, made);
    if (path.endsWith('/sandboxes')) {
      const pods = path.replace(/^.*(\/namespaces\/.*)\/sandboxes$/, '/api/v1$1/pods');
      this.#controller.set(`${pods}/${metadata?.name}`, () => this.#made(pods, { metadata }));
    }
    return made;
  }

  /** The lines of the pods that try the network: the one that others try to reach, and one that reaches nothing. */
  #printed(path: string): string {
    const pod = this.#objects.get(path.replace(/\/log$/, '')) as V1Pod | undefined;
    const isListener = pod?.spec?.containers[0]?.command?.some((one) => one.includes('"listen"'));
    return isListener
      ? 'listening\n'
      : JSON.stringify({ what: 'pods', host: '', port: 1, isOpen: false });
  }
}

/** The address of the node. */
export const nodeOfPlayed = '198.51.100.20';

/** Of a pod, and of a question about rights. */
const done = {
  phase: 'Succeeded',
  allowed: true,
  hostIPs: [{ ip: nodeOfPlayed }],
  containerStatuses: [{ name: 'first', state: { terminated: { exitCode: 0 } } }],
};

/** Of a pod whose node does not respond, by whether all of its containers ran before. */
const lostWhen = (containersReady: 'True' | 'False') => ({
  phase: 'Running',
  containerStatuses: [{ name: 'first', state: { running: {} } }],
  conditions: [
    { type: 'Ready', status: 'False' },
    { type: 'ContainersReady', status: containersReady },
    { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' },
  ],
});
const lost = lostWhen('True');
const lostUnready = lostWhen('False');

const isOnLostNode = ({ status }: Stored): boolean => status === lost || status === lostUnready;

const deletedBy = ({ metadata }: Stored): Pick<Stored, 'metadata'> => ({
  metadata: { ...metadata, deletionTimestamp: new Date().toISOString() },
});

const usesClaim = ({ spec }: Stored, name: string | undefined): boolean =>
  (spec as V1Pod['spec'])?.volumes?.some((one) => one.persistentVolumeClaim?.claimName === name) ??
  false;

const answerWith = (response: ServerResponse, code: number, body: object): void => {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
