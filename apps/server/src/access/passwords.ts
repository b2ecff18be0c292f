import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { AppError } from '@belay/protocol';
import { Semaphore } from 'async-mutex';

/** The parameters that OWASP recommends: 19 MiB, two passes, one lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const;
const saltBytes = 16;

/** Each hash needs this memory and a thread, so few run at once, and few wait. */
const running = new Semaphore(2);
const maxQueued = 30;
let queued = 0;

const derive = promisify(argon2);

/** Returns a PHC string of argon2id. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const tag = await hashed(password, salt);
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`;
}

/** Takes the same time for a user that does not exist; `stored` is then undefined. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const parts = stored?.split('$') ?? [];
  const salt = Buffer.from(parts[4] ?? '', 'base64');
  const known = Buffer.from(parts[5] ?? '', 'base64');
  const tag = await hashed(password, salt.length === saltBytes ? salt : noSalt);
  return timingSafeEqual(tag, known.length === tag.length ? known : noTag) && stored !== undefined;
}

const noSalt = Buffer.alloc(saltBytes);
const noTag = randomBytes(cost.tagLength);

async function hashed(password: string, nonce: Buffer): Promise<Buffer> {
  if (queued >= maxQueued) {
    throw new AppError('limit_reached', 'Too many logins at once. Try again in a moment.');
  }
  queued += 1;
  try {
    const message = password.normalize('NFKC');
    return await running.runExclusive(() => derive('argon2id', { message, nonce, ...cost }));
  } finally {
    queued -= 1;
  }
}

const base64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
