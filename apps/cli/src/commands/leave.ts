import { existsSync, rmSync } from 'node:fs';
import { AppError, pluralText } from '@belay/protocol';
import { BackgroundServer } from '../background/background-server.js';
import { confirmed } from '../confirmed.js';
import { checkedUrl, instanceOf, joinedFolder, joinedServers } from '../join/joined.js';
import { usedEngines } from '../join/used-engines.js';
import { usedClusters } from '../join/used-clusters.js';
import { outputTo } from '../output.js';

/** `belay leave`: removes everything that this machine keeps for a server. Returns the exit code. */
export async function leaveServer(address: string, { yes }: { yes?: boolean }): Promise<number> {
  const output = outputTo(process.stderr);
  const url = checkedUrl(address);
  const folder = joinedFolder(url);
  if (!existsSync(folder)) throw notJoined(url);
  const other = new BackgroundServer({ data: folder }).running();
  if (other)
    throw new AppError(
      'conflict',
      `This machine runs agents of ${url.origin}: stop “belay join” (process ${other.pid}) first.`,
    );
  const question = `Remove the credential for ${url.origin} and the files of its sessions from this machine?`;
  if (!yes && !(await confirmed(question, 'This removes files: confirm it with --yes.'))) {
    output.line('Nothing was removed.');
    return 1;
  }
  let removed = '';
  const engines = usedEngines(folder);
  if (engines.length > 0) {
    // The Docker client is loaded only when it is needed.
    const { removeLeftContainers } = await import('../join/left-containers.js');
    const { containers, volumes } = await removeLeftContainers(instanceOf(folder), engines);
    removed = `, with ${pluralText(containers, 'container')} and ${pluralText(volumes, 'volume')}`;
  }
  for (const { kubeconfig, namespace } of usedClusters(folder)) {
    const { removeLeftPods } = await import('@belay/containers');
    const of = { kubeconfig, namespace, agentSandbox: false };
    const { pods, claims } = await removeLeftPods(instanceOf(folder), of);
    removed += `, with ${pluralText(pods, 'pod')} and ${pluralText(claims, 'claim')} in ${namespace}`;
  }
  rmSync(folder, { recursive: true, force: true });
  output.line(`Removed what this machine had of ${url.origin}${removed}.`);
  return 0;
}

function notJoined(url: URL): AppError {
  const servers = joinedServers();
  const others =
    servers.length === 0
      ? 'It has joined no server.'
      : `Name one that it has joined: ${servers.join(', ')}`;
  return new AppError('not_found', `This machine has not joined ${url.origin}. ${others}`);
}
