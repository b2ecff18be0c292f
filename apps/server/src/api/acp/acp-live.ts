import { Injectable } from '@nestjs/common';
import { ownerCaller } from '../../access/caller.js';
import { EventLog } from '../../logs/event-log.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { TransientNotices, type TransientNoticeMap } from '../../logs/transient-notices.js';
import type { FeedNotices, Follower, FollowedBytes } from '../../sessions/feed/follower.js';
import { RemoteFollowers } from '../../sessions/feed/remote-followers.js';

export interface LiveListener {
  /** Text of the reply that is being written. */
  reply(kind: 'text' | 'reasoning', text: string): void;
  /** Output of a call that is running. */
  output(call: string, text: string): void;
  /** Output of a terminal; the bytes are valid only during the call. */
  terminal(name: string, bytes: Uint8Array): void;
}

/** What happens in a session between the events of its log. */
@Injectable()
export class AcpLive {
  constructor(
    private readonly notices: TransientNotices,
    private readonly terminals: TerminalLog,
    private readonly log: EventLog,
    private readonly remote: RemoteFollowers,
  ) {}

  /** Calls the listener until the returned function is called. */
  follow(session: string, listener: LiveListener): () => void {
    const { notices } = this;
    const onDelta = ({ session: of, kind, text }: TransientNoticeMap['delta'][0]): void => {
      if (of === session) listener.reply(kind, text);
    };
    const onOutput = ({ session: of, call, text }: TransientNoticeMap['output'][0]): void => {
      if (of === session) listener.output(call, text);
    };
    notices.on('delta', onDelta);
    notices.on('output', onOutput);
    const unsubscribe = this.terminals.subscribe(session, (name, _, bytes) =>
      listener.terminal(name, bytes),
    );
    const unfollow = this.remote.keep(new LiveFollower(listener), session, async () => ({
      session,
      after: await this.log.lastSeq(session),
      terminals: 'now',
    }));
    return () => {
      unfollow();
      notices.off('delta', onDelta);
      notices.off('output', onOutput);
      unsubscribe();
    };
  }
}

/** Tells a listener what happens in a session of another server. Its caller was checked for this session before. */
class LiveFollower implements Follower {
  readonly caller = ownerCaller;
  readonly isOpen = true;
  readonly isCongested = false;

  constructor(private readonly listener: LiveListener) {}

  async drained(): Promise<void> {}

  send<N extends keyof FeedNotices>(_name: N, notice: FeedNotices[N]): void {
    if ('kind' in notice) this.listener.reply(notice.kind, notice.text);
    else if ('call' in notice) this.listener.output(notice.call, notice.text);
  }

  async sendBytes({ terminal, bytes }: FollowedBytes): Promise<void> {
    this.listener.terminal(terminal, bytes);
  }

  /** The feed of events says so. */
  gone(): void {}

  /** What is not in the log is not shown then. */
  failed(): void {}
}
