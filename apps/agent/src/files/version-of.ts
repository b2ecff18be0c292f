import { createHash, type Hash } from 'node:crypto';

/** The version of a file with these bytes: see `fileVersion` of the protocol. */
export const versionOf = (bytes: Uint8Array): string =>
  versionFrom(beginVersion(bytes.byteLength).update(bytes));

/** Starts a hash for a file of this size, which is read in pieces. */
export const beginVersion = (size: number): Hash => createHash('sha1').update(`blob ${size}\0`);

export const versionFrom = (hash: Hash): string => hash.digest('hex').slice(0, 16);
