import type { AppError, Event, ViewerRequests } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import type { TransientNoticeMap } from '../../logs/transient-notices.js';

/** Notices that are not stored; a congested follower does not get them. */
export const followedNotices = ['delta', 'output', 'copied'] as const;

export type FeedNotices = Pick<
  { [N in keyof TransientNoticeMap]: TransientNoticeMap[N][0] },
  (typeof followedNotices)[number]
> & { events: { session: string; events: Event[] } };

/** Bytes of a terminal at `offset`. A gap after the previous bytes means that the middle was skipped. */
export interface FollowedBytes {
  session: string;
  terminal: string;
  offset: number;
  bytes: Uint8Array;
}

type ShowingRequest = 'terminal.fit' | 'browser.watch';

/** The request by which a server learns what a viewer shows of a session. */
export type ShownPart = {
  [N in ShowingRequest]: { name: N; input: ViewerRequests[N] };
}[ShowingRequest];

/** A connection, of any protocol, that follows sessions. No method throws. */
export interface Follower {
  /** In whose name other servers are asked for their sessions. */
  readonly caller: Caller;
  readonly isOpen: boolean;
  /**
   * Whether the connection accepts nothing at present. Events that it misses are read from the log once it has
   * drained.
   */
  readonly isCongested: boolean;
  /** Resolves when the connection accepts data again, or is closed. */
  drained(): Promise<void>;
  /** Called only after a check of `isCongested`; the connection buffers what it cannot send at once. */
  send<N extends keyof FeedNotices>(name: N, notice: FeedNotices[N]): void;
  /** The bytes are valid only until it returns. Resolves when the other side has acknowledged them. */
  sendBytes(bytes: FollowedBytes): Promise<void>;
  /** A picture of the session’s browser, which is shown or dropped. Undefined where none are shown. */
  showFrame?(frame: TransientNoticeMap['frame'][0]): void;
  /** What it shows of a session at present, which each server that takes the session is told. Undefined for nothing. */
  shown?(session: string): ShownPart[];
  /** The session was deleted; nothing more of it is sent. */
  gone(session: string, error: AppError): void;
  /** Missed events of the session cannot be read, so nothing more of it is sent. */
  failed(session: string, error: unknown): void;
}

/** Sends one notice to many, which a protocol may encode once for all of them. The list is never empty. */
export type SendAll<F extends Follower> = <N extends keyof FeedNotices>(
  followers: F[],
  name: N,
  notice: FeedNotices[N],
) => void;
