import { createHash } from 'node:crypto';
import type { Labels } from '../container-host.js';

/** Labels and annotations of our objects. */
export const keys = {
  instance: 'belay.instance',
  /** As `labels.server`. */
  server: 'belay.server',
  /** A container’s id. */
  container: 'belay.sandbox',
  /** On a pod: its files; on a claim: whose they are. */
  files: 'belay.files',
  /** What a claim keeps: see `ClaimKind`. */
  kind: 'belay.kind',
  /** The name of files as their owner writes it. */
  name: 'belay.name',
  /** On pods of the host itself, which its owner does not know. */
  own: 'belay.own',
  label: 'belay.label',
  /** The hash of the token that a pod dials with. */
  token: 'belay.token',
  /** The MiB that a pod’s containers may write. */
  written: 'belay.written',
} as const;

/** The longest name that is a part of ours as it is; names of objects have at most 63 characters. */
const maxPart = 36;

/** The name of an object, the same for the same parts. What no such name can contain is replaced by a hash. */
export function objectName(...parts: readonly string[]): string {
  return ['belay', ...parts.map(partOf)].join('-');
}

function partOf(text: string): string {
  if (text.length <= maxPart && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(text)) return text;
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

/** Labels, by which objects are selected, and annotations for those whose values labels cannot have. */
export function metadataOf(all: Labels): { labels: Labels; annotations: Labels } {
  const isLabel = ([, value]: [string, string]): boolean =>
    /^(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?$/.test(value);
  const entries = Object.entries(all);
  return {
    labels: Object.fromEntries(entries.filter(isLabel)),
    annotations: Object.fromEntries(entries.filter((entry) => !isLabel(entry))),
  };
}
