import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';

export interface Frame {
  jpeg: Uint8Array;
  width: number;
  height: number;
  url: string;
}

export interface LiveNotices {
  delta: [notice: { session: string; kind: 'text' | 'reasoning'; text: string }];
  frame: [notice: { session: string } & Frame];
}

/** What is shown while it happens and never stored; who does not listen misses it. */
@Injectable()
export class Live extends EventEmitter<LiveNotices> {
  delta(session: string, kind: 'text' | 'reasoning', text: string): void {
    this.emit('delta', { session, kind, text });
  }

  frame(session: string, frame: Frame): void {
    this.emit('frame', { session, ...frame });
  }
}
