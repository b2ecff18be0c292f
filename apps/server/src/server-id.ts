import { randomBytes } from 'node:crypto';

/** Names this process among the servers of its database. */
export const serverId = randomBytes(8).toString('hex');
