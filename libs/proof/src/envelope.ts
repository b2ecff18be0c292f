import { createPublicKey, sign, verify } from 'node:crypto';
import { AppError, type PublishedKey, type SignedEnvelope } from '@belay/protocol';
import { DoesNotHold } from './does-not-hold.js';
import type { SigningKey } from './signing-key.js';

/** A DSSE envelope around these bytes. */
export function inEnvelope(
  payloadType: string,
  payload: Uint8Array,
  { kid, privateKey }: SigningKey,
): SignedEnvelope {
  const bytes = Buffer.from(payload);
  const sig = sign(null, signedBytes(payloadType, bytes), privateKey).toString('base64');
  return { payloadType, payload: bytes.toString('base64'), signatures: [{ keyid: kid, sig }] };
}

/**
 * The signed bytes of an envelope, and the key of those given that signed them. Throws `DoesNotHold` for a signature of
 * another text and for a revoked key, and `AppError` where none of the keys is of the signer.
 */
export function fromEnvelope(
  { payloadType, payload, signatures }: SignedEnvelope,
  keys: readonly PublishedKey[],
): { payload: Buffer; key: PublishedKey } {
  const bytes = Buffer.from(payload, 'base64');
  const message = signedBytes(payloadType, bytes);
  const signers = keys.filter(({ kty, crv, x }) => {
    const key = createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
    return signatures.some(({ sig }) => verify(null, message, key, Buffer.from(sig, 'base64')));
  });
  const key = signers.find(({ revoked }) => revoked === null);
  if (key) return { payload: bytes, key };
  const [revoked] = signers;
  if (revoked)
    throw new DoesNotHold(
      `The key that signed this was revoked on ${revoked.revoked}: nothing that it signed holds (kid ${revoked.kid}).`,
    );
  const named = signatures.map(({ keyid }) => keyid ?? 'unnamed');
  if (keys.some(({ kid }) => named.includes(kid)))
    throw new DoesNotHold('The signature is not of this text.');
  throw new AppError(
    'invalid_input',
    `It is signed by a key that you do not trust (kid ${named.join(', ') || 'none'}). If you trust the server that signed it, name it: belay verify --trust https://…`,
  );
}

/** What is signed (DSSE’s pre-authentication encoding), in which no two pairs of type and text are the same. */
const signedBytes = (payloadType: string, payload: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `),
    payload,
  ]);
