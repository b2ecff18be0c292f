import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { Claims } from './claims.js';
import type { Cluster } from './cluster.js';
import { keys } from './names.js';

/** A cluster in which there are claims. */
class ClaimedCluster {
  readonly claimed: V1PersistentVolumeClaim[] = [];
  claims = async () => this.claimed;
  createClaim = async (claim: V1PersistentVolumeClaim) => void this.claimed.push(claim);
}

it('are told except for those of other servers that are alive', async () => {
  const cluster = new ClaimedCluster();
  const alive = new Set<string>();
  const claimsOf = (server: string) =>
    new Claims(cluster as unknown as Cluster, {
      instance: 'i',
      labels: { [keys.server]: server, 'belay.data': '/a/folder' },
      filesMb: 1,
      storageClass: undefined,
      others: async () => alive,
    });
  for (const server of ['one', 'two']) await claimsOf(server).make('files', `of-${server}`);
  expect(await claimsOf('one').list('files')).toEqual(['of-one', 'of-two']);
  alive.add('two');
  expect(await claimsOf('one').list('files')).toEqual(['of-one']);
});
