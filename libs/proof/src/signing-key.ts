import { createPrivateKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import type { PublishedKey } from '@belay/protocol';

/** A key that signs. */
export interface SigningKey {
  kid: string;
  privateKey: KeyObject;
}

/** A new Ed25519 key; `secret` is its private half, PKCS#8 in Base64. */
export function newSigningKey(): { published: PublishedKey; secret: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const kid = hash('sha256', publicKey.export({ format: 'der', type: 'spki' }), 'hex');
  const dates = { created: new Date().toISOString(), retired: null, revoked: null };
  return {
    published: { kty: 'OKP', crv: 'Ed25519', use: 'sig', kid, x, ...dates },
    secret: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
  };
}

export const signingKey = (kid: string, secret: string): SigningKey => ({
  kid,
  privateKey: createPrivateKey({
    key: Buffer.from(secret, 'base64'),
    format: 'der',
    type: 'pkcs8',
  }),
});
