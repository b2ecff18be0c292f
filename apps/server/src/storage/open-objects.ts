import { join } from 'node:path';
import type { Config } from '../config.js';
import { FolderObjects } from './folder-objects.js';
import type { LiveServers } from './live-servers.js';
import type { ObjectStore } from './object-store.js';
import { S3Objects } from './s3-objects.js';

/** The storage that is configured: the data folder, or a bucket. Throws `unavailable` for a bucket that cannot be used. */
export const openObjects = async (
  { data, storage }: Config,
  servers: LiveServers,
): Promise<ObjectStore> =>
  storage
    ? await S3Objects.open(storage, {
        folder: join(data, 'spool'),
        others: () => servers.otherIds(),
      })
    : new FolderObjects(data);
