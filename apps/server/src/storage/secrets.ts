import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits, so its hash needs no salt, and comparing hashes reveals nothing about the secret. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

/** The stored form of a secret: SHA-256. */
export const hashOfSecret = (secret: string, encoding: 'base64url' | 'hex' = 'base64url'): string =>
  createHash('sha256').update(secret).digest(encoding);
