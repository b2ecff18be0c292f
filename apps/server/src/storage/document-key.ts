import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@belay/protocol';
import { isSecretKey, type Config } from '../config.js';
import { storageError } from './database.js';
import { writeWholeSync } from './write-whole.js';

const algorithm = 'aes-256-gcm';
const [keyBytes, nonceBytes, tagBytes] = [32, 12, 16];

/** The key of the documents and other values in the database: whoever has a copy of the database alone cannot read or forge them. */
export class DocumentKey {
  readonly #file: string;
  /** For messages: where the key comes from. */
  readonly #origin: string;
  #key: Buffer | undefined;

  /**
   * `BELAY_SECRET_KEY`, or else the key in the data folder, which is made for the first document. Throws `invalid_input`
   * for a damaged file, and for a missing one if there are documents.
   */
  constructor({ data, secretKey }: Config, isNeeded: boolean) {
    this.#file = join(data, 'secret.key');
    this.#origin = secretKey === undefined ? this.#file : 'BELAY_SECRET_KEY';
    const text = secretKey ?? readKey(this.#file);
    this.#key = text === undefined ? undefined : Buffer.from(text, 'base64');
    if (isNeeded && !this.#key)
      throw new AppError(
        'invalid_input',
        `${this.#file} is missing, and documents of the database are encrypted with it. Restore it from a backup, or set BELAY_SECRET_KEY to its content.`,
      );
  }

  /** In Base64: nonce, tag and ciphertext. A value is valid only under the name that it was encrypted for. */
  encrypt(name: string, text: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#present(), nonce).setAAD(Buffer.from(name));
    const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64');
  }

  /** Throws `invalid_input` for a value that was changed, or encrypted with another key or for another name. */
  decrypt(name: string, value: string): string {
    const bytes = Buffer.from(value, 'base64');
    const [nonce, tag] = [
      bytes.subarray(0, nonceBytes),
      bytes.subarray(nonceBytes).subarray(0, tagBytes),
    ];
    try {
      const decipher = createDecipheriv(algorithm, this.#present(), nonce, {
        authTagLength: tagBytes,
      })
        .setAAD(Buffer.from(name))
        .setAuthTag(tag);
      const encrypted = bytes.subarray(nonceBytes + tagBytes);
      return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8');
    } catch {
      throw new AppError(
        'invalid_input',
        `The document “${name}” of the database cannot be decrypted with the key in ${this.#origin}. Start the server with the key with which it was written: the secret.key of its data folder, or BELAY_SECRET_KEY.`,
      );
    }
  }

  #present(): Buffer {
    return (this.#key ??= Buffer.from(readKey(this.#file) ?? newKey(this.#file), 'base64'));
  }
}

function readKey(file: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  if (isSecretKey(text)) return text;
  throw new AppError('invalid_input', `${file} is damaged: restore it from a backup.`);
}

function newKey(file: string): string {
  const key = randomBytes(keyBytes).toString('base64');
  try {
    writeWholeSync(file, `${key}\n`, { flush: true });
  } catch (error) {
    throw storageError(error);
  }
  return key;
}
