import { Injectable } from '@nestjs/common';
import { inEnvelope, newSigningKey, signingKey } from '@belay/proof';
import { AppError, publishedKeys, type PublishedKey, type SignedEnvelope } from '@belay/protocol';
import { z } from 'zod';
import type { Document } from '../storage/document.js';
import { Documents } from '../storage/documents.js';

/** `secret` is the private half of the last key, while that one signs: others keep none. */
const saved = publishedKeys.extend({ secret: z.string().nullable() });
type Saved = z.output<typeof saved>;

/** The keys with which the servers of this database sign, made when the first of them is needed. */
@Injectable()
export class SigningKeys {
  readonly #document: Document<typeof saved>;

  constructor(documents: Documents) {
    this.#document = documents.open('signing', saved, { keys: [], secret: null });
  }

  /** The public halves, the newest last. */
  list(): PublishedKey[] {
    return this.#document.value.keys;
  }

  async sign(payloadType: string, payload: Uint8Array): Promise<SignedEnvelope> {
    await this.#document.change((before) => (before.secret === null ? withNewKey(before) : before));
    const { keys, secret } = this.#document.value;
    const kid = keys.at(-1)?.kid;
    if (kid === undefined || secret === null)
      throw new AppError('unavailable', 'The signing key was revoked meanwhile. Try again.');
    return inEnvelope(payloadType, payload, signingKey(kid, secret));
  }

  /** The new key. */
  async rotate(): Promise<PublishedKey> {
    await this.#document.change(withNewKey);
    return this.#newest();
  }

  /** Throws `not_found` for a key that this server never had. One that was revoked before keeps its date. */
  async revoke(kid: string): Promise<PublishedKey> {
    const now = new Date().toISOString();
    await this.#document.change(({ keys, secret }) => {
      if (!keys.some((key) => key.kid === kid))
        throw new AppError('not_found', `There is no signing key ${kid}. See: belay keys`);
      return {
        keys: keys.map((key) => (key.kid === kid ? { ...key, revoked: key.revoked ?? now } : key)),
        secret: keys.at(-1)?.kid === kid ? null : secret,
      };
    });
    return this.list().find((key) => key.kid === kid) ?? this.#newest();
  }

  #newest(): PublishedKey {
    const newest = this.list().at(-1);
    if (newest) return newest;
    throw new AppError('internal', 'The signing key was not stored.');
  }
}

function withNewKey({ keys }: Saved): Saved {
  const { published, secret } = newSigningKey();
  const retired = published.created;
  return {
    keys: [...keys.map((key) => ({ ...key, retired: key.retired ?? retired })), published],
    secret,
  };
}
