import type { AppError, Event } from '@belay/protocol';
import type { TransientNoticeMap } from '../../logs/transient-notices.js';

/** Notices that are not stored: a follower that is congested does without them. */
export const followedNotices = ['delta', 'output', 'copied'] as const;

export type FeedNotices = Pick<
  { [N in keyof TransientNoticeMap]: TransientNoticeMap[N][0] },
  (typeof followedNotices)[number]
> & { events: { session: string; events: Event[] } };

/** Bytes of a terminal at `offset`; when it is beyond the end of those before, the middle was skipped. */
export interface FollowedBytes {
  session: string;
  terminal: string;
  offset: number;
  bytes: Uint8Array;
}

/** Who follows sessions over a connection, of any protocol. No method throws. */
export interface Follower {
  readonly isOpen: boolean;
  /** Whether it takes nothing now: what it lacks is read from the log once it has drained. */
  readonly isCongested: boolean;
  /** Resolves when it takes more, or is closed. */
  drained(): Promise<void>;
  /** It is asked `isCongested` before, and keeps what it cannot send at once. */
  send<N extends keyof FeedNotices>(name: N, notice: FeedNotices[N]): void;
  /** The bytes are only lent until it returns. Resolves when the other side has taken them. */
  sendBytes(bytes: FollowedBytes): Promise<void>;
  /** The session was deleted; nothing of it follows. */
  gone(session: string, error: AppError): void;
  /** What it lacks of the session cannot be read, so nothing of it follows. */
  failed(session: string, error: unknown): void;
}

/** Sends one notice to many, which a protocol may encode once for all of them. The list is never empty. */
export type SendAll<F extends Follower> = <N extends keyof FeedNotices>(
  followers: F[],
  name: N,
  notice: FeedNotices[N],
) => void;
