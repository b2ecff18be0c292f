import { createHash, timingSafeEqual } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '@belay/protocol';
import type { LockedPackage } from './agent-lock.js';
import type { NpmRegistry } from './npm-registry.js';

export interface DownloadOptions {
  registry: NpmRegistry;
  /** `outgoingFetch`, for the proxy of this machine. */
  fetch: typeof globalThis.fetch;
  signal: AbortSignal;
  /** Called with the number of each piece's bytes. */
  onBytes(count: number): void;
}

/**
 * Downloads the archive of a package to a file, whose content is exactly the locked one. Throws `unavailable` if the
 * registry does not send it, and `forbidden` if it sends anything else; the file is then unusable.
 */
export async function downloadPackage(
  locked: LockedPackage,
  file: string,
  { registry, fetch, signal, onBytes }: DownloadOptions,
): Promise<void> {
  const { name, version, size, integrity } = locked;
  const what = `${name} ${version}`;
  const url = packageUrl(registry, locked);
  const headers = registryHeaders(registry);
  const response = await fetch(url.href, { headers, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw unavailable(what, reasonOf(error));
  });
  if (!response.ok || !response.body) throw unavailable(what, `it answered ${response.status}`);
  const hash = createHash('sha512');
  let left = size;
  const check = new Transform({
    transform(piece: Buffer, _encoding, done) {
      left -= piece.length;
      hash.update(piece);
      onBytes(piece.length);
      done(left < 0 ? changed(what, 'is larger') : null, piece);
    },
    flush(done) {
      const found = hash.digest();
      const locked512 = Buffer.from(integrity.slice('sha512-'.length), 'base64');
      const isSame = left === 0 && timingSafeEqual(found, locked512);
      done(isSame ? null : changed(what, 'has other content'));
    },
  });
  try {
    await pipeline(response.body, check, createWriteStream(file, { mode: 0o600 }), { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AppError) throw error;
    throw unavailable(what, reasonOf(error));
  }
}

/** The address of a package's archive. */
export function packageUrl(
  { url }: NpmRegistry,
  { name, version }: Pick<LockedPackage, 'name' | 'version'>,
): URL {
  const bare = name.split('/').at(-1) ?? '';
  return new URL(`${name}/-/${bare}-${version}.tgz`, url);
}

export const registryHeaders = ({ authorization }: NpmRegistry): Headers =>
  new Headers(authorization ? { authorization } : {});

const unavailable = (what: string, why: string): AppError =>
  new AppError(
    'unavailable',
    `The npm registry did not send ${what}: ${why}. Check the registry of the server’s machine: npm config get registry`,
  );

const changed = (what: string, how: string): AppError =>
  new AppError(
    'forbidden',
    `${what} from the npm registry ${how} than Belay’s lock says. Nothing was installed: the package was changed on its way, or after its publication.`,
  );

/** Errors of fetch say only in their cause what failed. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: unknown; cause?: { message?: unknown } };
  return String(cause?.message ?? message ?? error).slice(0, 300);
}
