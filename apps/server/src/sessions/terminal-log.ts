import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';

export type TerminalListener = (terminal: string, offset: number, bytes: Uint8Array) => void;

@Injectable()
export class TerminalLog {
  /** Bytes that are stored already are ignored; a gap is a `conflict`. Resolves when they are stored. */
  append(session: string, terminal: string, offset: number, bytes: Uint8Array): Promise<void> {
    throw new AppError('internal', `Not yet: ${session} ${terminal} ${offset} ${bytes.length}`);
  }

  size(session: string, terminal: string): Promise<number> {
    throw new AppError('internal', `Not yet: ${session} ${terminal}`);
  }

  /** Bytes `from` up to, not including, `to`; less when there is less. */
  read(session: string, terminal: string, from: number, to: number): Promise<Buffer> {
    throw new AppError('internal', `Not yet: ${session} ${terminal} ${from} ${to}`);
  }

  list(session: string): Promise<{ terminal: string; size: number }[]> {
    throw new AppError('internal', `Not yet: ${session}`);
  }

  subscribe(session: string, listener: TerminalListener): () => void {
    throw new AppError('internal', `Not yet: ${session} ${listener.name}`);
  }
}
