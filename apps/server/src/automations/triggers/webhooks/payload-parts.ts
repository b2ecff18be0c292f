import type { ForgeUser, Occurrence } from '@belay/protocol';
import { z } from 'zod';
import { commandOf } from '../command-of.js';
import { eventKey, hashOfText } from '../event-keys.js';

/** What is read of payloads is bounded here, whatever their host sends; unknown fields do not matter. */
export const payloadText = z.string().max(1_000_000);
export const payloadName = z.string().min(1).max(300);
export const payloadId = z.union([z.int(), z.string().min(1).max(100)]).transform(String);
export const payloadNumber = z.int().positive();
export const payloadSha = z.string().regex(/^[0-9a-f]{40}$/);
/** Times in any of the forms that hosts use; undefined for others. */
export const payloadTime = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'string' ? timeOf(value) : undefined));

export const branchOf = (ref: string): string | undefined =>
  ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined;

/** The id of no commit: a branch was deleted. */
export const isNoCommit = (sha: string): boolean => /^0+$/.test(sha);

function timeOf(text: string): string | undefined {
  const time = Date.parse(text.replace(/^(\d{4}-\d{2}-\d{2}) (\S+) UTC$/, '$1T$2Z'));
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** What a delivery says: occurrences, or why it begins nothing, or why it cannot be read. */
export interface ReadDelivery {
  readonly delivery: string;
  readonly event: string;
  /** The repository that it is about, by the host’s id; null if it does not say. */
  readonly repository: string | null;
  readonly occurrences: readonly Occurrence[];
  /** Whether the occurrences only say what to ask the host. */
  readonly asks?: boolean;
  readonly ignored?: string;
  readonly refused?: string;
  /** A test of the webhook, which is answered and not stored. */
  readonly isPing?: boolean;
}

/** What a payload says, without how it was sent. */
export type ReadPayload = Omit<ReadDelivery, 'delivery' | 'event' | 'repository'>;

export const ignored = (why: string): ReadPayload => ({ occurrences: [], ignored: why });
export const found = (...occurrences: Occurrence[]): ReadPayload => ({ occurrences });

interface NewComment {
  id: string;
  /** The number of the issue or pull request. */
  number: number;
  isPull: boolean;
  body: string;
  at: string;
  actor: ForgeUser;
  /** Comments on lines have numbers of their own at some hosts. */
  series?: string;
  /** The key of the review that it is part of. */
  review?: string | undefined;
}

/** A new comment: a command, or something said about a pull request; undefined for talk about an issue. */
export function commentOccurrence({
  id,
  number,
  isPull,
  body,
  at,
  actor,
  series = 'comment',
  review,
}: NewComment): Occurrence | undefined {
  const command = commandOf(body);
  if (command === undefined && !isPull) return undefined;
  const kind = isPull ? 'pull' : 'issue';
  return {
    event: command === undefined ? 'pull.commented' : `${kind}.command`,
    key: eventKey(series, id),
    at,
    actor,
    number,
    comment: id,
    textSha256: hashOfText(body),
    ...(command !== undefined && { command }),
    ...(review !== undefined && { review }),
  };
}

export const noCommand =
  'It is a comment on an issue without a command in its first line, such as /belay fix.';

/** A question about all checks of a commit. */
export const askChecks = (
  sha: string,
  { at, branch, number }: { at: string; branch?: string | undefined; number?: number | undefined },
): ReadPayload => ({
  occurrences: [
    {
      event: 'checks.failed',
      key: eventKey('checks', sha),
      at,
      actor: null,
      sha,
      ...(branch !== undefined && { branch }),
      ...(number !== undefined && { number }),
    },
  ],
  asks: true,
});
