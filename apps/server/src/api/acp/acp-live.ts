import { Injectable } from '@nestjs/common';
import { TerminalLog } from '../../logs/terminal-log.js';
import { TransientNotices, type TransientNoticeMap } from '../../logs/transient-notices.js';

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
    return () => {
      notices.off('delta', onDelta);
      notices.off('output', onOutput);
      unsubscribe();
    };
  }
}
