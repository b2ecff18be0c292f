import { createHash } from 'node:crypto';
import type { Entry } from '../entries.js';

/**
 * The Dirhash Standard 0.1.0 with SHA-256 and its defaults, by which Harbor identifies the content
 * of a task’s folder.
 */
export function directoryHash(files: Iterable<Entry>): string {
  const folders = new Map<string, Entry[]>();
  const own: string[] = [];
  for (const entry of files) {
    const at = entry.path.indexOf('/');
    if (at < 0) own.push(`data:${sha256(entry.bytes)}\0name:${entry.path}`);
    else {
      const inside = { ...entry, path: entry.path.slice(at + 1) };
      const name = entry.path.slice(0, at);
      folders.set(name, [...(folders.get(name) ?? []), inside]);
    }
  }
  const below = [...folders].map(
    ([name, inside]) => `dirhash:${directoryHash(inside)}\0name:${name}`,
  );
  const descriptors = [...own, ...below].toSorted((a, b) => Buffer.compare(utf8(a), utf8(b)));
  return sha256(descriptors.join('\0\0'));
}

/** Python orders strings by code points, which is the order of their UTF-8 bytes. */
const utf8 = (text: string) => Buffer.from(text);

export const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
