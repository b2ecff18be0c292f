import { generateKeyPairSync, verify } from 'node:crypto';
import { AppError, publishedKey, type PublishedKey } from '@belay/protocol';
import fc from 'fast-check';
import { DoesNotHold } from './does-not-hold.js';
import { fromEnvelope, inEnvelope } from './envelope.js';
import { newSigningKey, signingKey } from './signing-key.js';

const type = 'application/vnd.in-toto+json';
const revoked = '2026-05-01T00:00:00.000Z';

describe('a signed envelope', () => {
  const { published, secret } = newSigningKey();
  const other = newSigningKey().published;
  const key = signingKey(published.kid, secret);
  const envelope = inEnvelope(type, Buffer.from('{"a":"é"}'), key);

  it('gives back the bytes that were signed, by whichever of the keys', () => {
    expect(publishedKey.parse(published)).toEqual(published);
    const opened = fromEnvelope(envelope, [other, published]);
    expect(opened.payload.toString()).toBe('{"a":"é"}');
    expect(opened.key).toBe(published);
    const urlSafe = (text: string) => Buffer.from(text, 'base64').toString('base64url');
    const { payload, signatures } = envelope;
    const asUrl = {
      payloadType: type,
      payload: urlSafe(payload),
      signatures: signatures.map(({ sig }) => ({ sig: urlSafe(sig) })),
    };
    expect(fromEnvelope(asUrl, [published]).payload).toEqual(opened.payload);
  });

  it('is signed as DSSE says, so that other tools verify it', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const uri = 'http://example.com/HelloWorld';
    const { payload, signatures } = inEnvelope(uri, Buffer.from('hello world'), {
      kid: 'x',
      privateKey,
    });
    expect(payload).toBe('aGVsbG8gd29ybGQ=');
    // The example of the specification.
    const message = Buffer.from(`DSSEv1 29 ${uri} 11 hello world`);
    const sig = Buffer.from(signatures[0]?.sig ?? '', 'base64');
    expect(verify(null, message, publicKey, sig)).toBe(true);
  });

  it('does not hold after any change of its text or type', () => {
    fc.assert(
      fc.property(fc.nat(), fc.boolean(), (bit, isType) => {
        const text = isType ? Buffer.from(type) : Buffer.from(envelope.payload, 'base64');
        const at = bit % (text.length * 8);
        text[at >> 3] = (text[at >> 3] ?? 0) ^ (1 << (at & 7));
        const forged = isType
          ? { ...envelope, payloadType: text.toString('latin1') }
          : { ...envelope, payload: text.toString('base64') };
        expect(() => fromEnvelope(forged, [published])).toThrow(
          new DoesNotHold('The signature is not of this text.'),
        );
      }),
    );
  });

  it('is not trusted for the name of its key', () => {
    const stranger = inEnvelope(type, Buffer.from('{}'), {
      ...signingKey(published.kid, newSigningKey().secret),
    });
    expect(() => fromEnvelope(stranger, [published])).toThrow(DoesNotHold);
    expect(() => fromEnvelope(envelope, [other])).toThrow(AppError);
    expect(() => fromEnvelope(envelope, [])).toThrow('a key that you do not trust');
    expect(() => fromEnvelope({ ...envelope, signatures: [] }, [published])).toThrow('kid none');
    // Another key under the name of this one.
    const swapped: PublishedKey = { ...other, kid: published.kid };
    expect(() => fromEnvelope(envelope, [swapped])).toThrow(DoesNotHold);
  });

  it('does not hold once its key is revoked, unless another one signed it, too', () => {
    expect(() => fromEnvelope(envelope, [{ ...published, revoked }])).toThrow(
      `was revoked on ${revoked}`,
    );
    const second = newSigningKey();
    const { signatures } = inEnvelope(
      type,
      Buffer.from('{"a":"é"}'),
      signingKey(second.published.kid, second.secret),
    );
    const both = { ...envelope, signatures: [...envelope.signatures, ...signatures] };
    const keys = [{ ...published, revoked }, second.published];
    expect(fromEnvelope(both, keys).key).toBe(second.published);
  });
});
