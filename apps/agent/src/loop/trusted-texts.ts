import { createHash } from 'node:crypto';

/** Trusted texts, as their SHA-256, by path. */
export type TrustedTexts = ReadonlyMap<string, ReadonlySet<string>>;

/** Adds texts that the user has read; other texts at the same paths stay untrusted. */
export function withTrusted(
  before: TrustedTexts,
  files: readonly { path: string; text: string }[],
): TrustedTexts {
  const texts = new Map(before);
  for (const { path, text } of files)
    texts.set(path, new Set([...(texts.get(path) ?? []), textHash(text)]));
  return texts;
}

/** The hash that identifies a trusted text. */
export const textHash = (text: string): string => createHash('sha256').update(text).digest('hex');
