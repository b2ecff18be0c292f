import { createHash, randomBytes } from 'node:crypto';

/** 256 bits: its hash needs no salt, and comparing hashes tells nothing of the secret. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

/** What is kept of a secret: SHA-256. */
export const hashOfSecret = (secret: string, encoding: 'base64url' | 'hex' = 'base64url'): string =>
  createHash('sha256').update(secret).digest(encoding);
