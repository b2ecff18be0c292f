import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tag = { authTagLength: 16 };

/**
 * Values that a client keeps for the server, and can neither read nor change. The server remembers nothing of them, so
 * that no flood displaces one. Each is valid for a time, until the server restarts.
 */
export class SealedValues<T> {
  readonly #key = randomBytes(32);
  readonly #content;

  constructor(
    value: z.ZodType<T>,
    private readonly lifeMs: number,
  ) {
    this.#content = z.object({ value, expires: z.number() });
  }

  /** Returns characters that are valid in a cookie. */
  seal(value: T): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, this.#key, iv, tag);
    const content = JSON.stringify({ value, expires: Date.now() + this.lifeMs });
    const sealed = [cipher.update(content, 'utf8'), cipher.final()];
    return Buffer.concat([iv, ...sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** Undefined for anything that this server did not seal, and after the value’s time. */
  open(text: string): T | undefined {
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length < ivBytes + tag.authTagLength) return undefined;
    const end = bytes.length - tag.authTagLength;
    const cipher = createDecipheriv(algorithm, this.#key, bytes.subarray(0, ivBytes), tag);
    cipher.setAuthTag(bytes.subarray(end));
    try {
      const opened = [cipher.update(bytes.subarray(ivBytes, end)), cipher.final()];
      const { value, expires } = this.#content.parse(JSON.parse(Buffer.concat(opened).toString()));
      return expires > Date.now() ? value : undefined;
    } catch {
      return undefined;
    }
  }
}
