import { createHash } from 'node:crypto';

/** Texts that are trusted, as their SHA-256, by path. */
export type TrustedTexts = ReadonlyMap<string, ReadonlySet<string>>;

/** The user has read these texts: others under the same paths are not trusted. */
export function withTrusted(
  before: TrustedTexts,
  files: readonly { path: string; text: string }[],
): TrustedTexts {
  const texts = new Map(before);
  for (const { path, text } of files)
    texts.set(path, new Set([...(texts.get(path) ?? []), textHash(text)]));
  return texts;
}

/** What trust in a file is bound to. */
export const textHash = (text: string): string => createHash('sha256').update(text).digest('hex');
