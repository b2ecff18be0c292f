import { z } from 'zod';
import { event } from './events.js';

/** A SHA-256 digest in hexadecimal. */
export const sha256Digest = z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 digest in hexadecimal');

/** The first line of a log with its digests. */
export const storedLogHead = z.object({
  algorithm: z.string(),
  session: z.string(),
  created: z.string().describe('When the session was created, with which its chain begins.'),
  seq: z.int().nonnegative().describe('The last event.'),
  head: sha256Digest.describe('The digest of the last event, which covers all of them.'),
  chainedFrom: z
    .int()
    .positive()
    .describe('The first event that was chained when it was stored; those before it were later.'),
});
export type StoredLogHead = z.infer<typeof storedLogHead>;

/** An event as it is stored: `args` is the text of its JSON. */
export const storedLogRecord = event.omit({ args: true, id: true }).extend({
  session: z.string(),
  time: z.string(),
  source: z.string(),
  args: z.string(),
  call: z.string().nullable(),
  epoch: z.int().nullable().describe('Which of the session’s agents wrote it; null if none did.'),
  n: z.int().nullable(),
  digest: sha256Digest,
});
export type StoredLogRecord = z.infer<typeof storedLogRecord>;

/** A record whose content is not published, but its digest. */
export const hiddenLogRecord = z.object({
  seq: storedLogRecord.shape.seq,
  content: sha256Digest,
  digest: sha256Digest,
});

/** A log’s last event at some time, to be kept elsewhere: no earlier event can be changed unnoticed afterwards. */
export const notedHead = z.object({
  id: z.int().positive(),
  session: z.string(),
  seq: z.int().positive(),
  head: sha256Digest,
  time: z.string(),
  why: z.enum(['publish', 'end']).describe('The changes were published, or the session ended.'),
});
export type NotedHead = z.infer<typeof notedHead>;

const base64 = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, 'Base64');

/** A signing key’s public half, as a JSON Web Key with three dates. */
export const publishedKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  use: z.literal('sig'),
  kid: sha256Digest.describe('The SHA-256 of the key in DER.'),
  x: z.string().regex(/^[\w-]{43}$/, 'an Ed25519 key'),
  created: z.iso.datetime(),
  retired: z.iso
    .datetime()
    .nullable()
    .describe('Since when another key signs; what it signed before still holds.'),
  revoked: z.iso
    .datetime()
    .nullable()
    .describe('When it was revoked: nothing that it ever signed holds.'),
});
export type PublishedKey = z.infer<typeof publishedKey>;

/** The keys with which a server has signed, the newest last. */
export const publishedKeys = z.object({ keys: z.array(publishedKey) });
export type PublishedKeys = z.infer<typeof publishedKeys>;

/** A signed text (DSSE 1.0). `keyid` is a hint, which decides nothing. */
export const signedEnvelope = z.object({
  payloadType: z.string().max(200),
  payload: base64,
  signatures: z.array(z.object({ keyid: z.string().max(200).optional(), sig: base64 })).max(20),
});
export type SignedEnvelope = z.infer<typeof signedEnvelope>;
