import { createHash } from 'node:crypto';

type Hashes = ReadonlyMap<string, ReadonlySet<string>>;

/** The user has read these texts: others under the same paths are not trusted. */
export function withTrusted(
  before: Hashes,
  files: readonly { path: string; text: string }[],
): Hashes {
  const texts = new Map(before);
  for (const { path, text } of files)
    texts.set(path, new Set([...(texts.get(path) ?? []), hashOf(text)]));
  return texts;
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
