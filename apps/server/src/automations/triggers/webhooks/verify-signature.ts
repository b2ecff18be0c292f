import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Forge } from '../../forges/forge.js';

const maxAgeMs = 300_000;

/** Names of the headers that may have a signature, by the kind of host. */
const signatureHeaders: Record<Forge['kind'], readonly string[]> = {
  github: ['x-hub-signature-256'],
  gitlab: ['webhook-signature', 'x-gitlab-token'],
  gitea: ['x-forgejo-signature', 'x-gitea-signature'],
};

/** Whether a request can be one of any host at all: without a signature its body is not read. */
export const mayBeSigned = (headers: IncomingHttpHeaders): boolean =>
  Object.values(signatureHeaders)
    .flat()
    .some((name) => headerOf(headers, name) !== undefined);

/**
 * Whether the body was sent by the host that has the secret. The kind is that of the source that an admin connected: the
 * headers that came do not choose how they are checked. Of several signatures the first one decides alone.
 */
export function verifySignature(
  kind: Forge['kind'],
  headers: IncomingHttpHeaders,
  body: Buffer,
  { secret, now }: { secret: string; now: Date },
): boolean {
  if (secret === '') return false;
  switch (kind) {
    case 'github':
      return isHex(headerOf(headers, 'x-hub-signature-256'), 'sha256=', hmac(secret, body));
    case 'gitea':
      return isHex(
        headerOf(headers, 'x-forgejo-signature') ?? headerOf(headers, 'x-gitea-signature'),
        '',
        hmac(secret, body),
      );
    case 'gitlab':
      return headerOf(headers, 'webhook-signature') === undefined
        ? isSame(headerOf(headers, 'x-gitlab-token') ?? '', secret)
        : isSignedByGitlab(headers, body, { secret, now });
  }
}

/** As in Standard Webhooks: `v1,BASE64`, several of them separated by spaces, of id, time and body. */
function isSignedByGitlab(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { secret, now }: { secret: string; now: Date },
): boolean {
  const [id, time] = [headerOf(headers, 'webhook-id'), headerOf(headers, 'webhook-timestamp')];
  if (id === undefined || time === undefined || !/^\d{1,12}$/.test(time)) return false;
  if (Math.abs(now.getTime() - Number(time) * 1_000) > maxAgeMs) return false;
  const signed = Buffer.concat([Buffer.from(`${id}.${time}.`), body]);
  const expected = `v1,${hmac(keyOf(secret), signed).toString('base64')}`;
  const given = (headerOf(headers, 'webhook-signature') ?? '').split(' ').slice(0, 5);
  return given.some((each) => isSame(each, expected));
}

/** A signing token of this form is the key itself, encoded. */
const keyOf = (secret: string): string | Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;

const hmac = (key: string | Buffer, body: Buffer): Buffer =>
  createHmac('sha256', key).update(body).digest();

function isHex(header: string | undefined, prefix: string, expected: Buffer): boolean {
  if (!header?.startsWith(prefix)) return false;
  const hex = header.slice(prefix.length);
  return /^[0-9a-f]{64}$/i.test(hex) && timingSafeEqual(Buffer.from(hex, 'hex'), expected);
}

/** In a time that tells neither the length nor the beginning of the secret. */
const isSame = (given: string, expected: string): boolean =>
  timingSafeEqual(digest(given), digest(expected));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A header that came once; Node joins others, which are then not of the expected form. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
