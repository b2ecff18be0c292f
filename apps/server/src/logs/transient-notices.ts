import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';

interface BrowserFrame {
  jpeg: Uint8Array;
  width: number;
  height: number;
  url: string;
}

export interface TransientNoticeMap {
  delta: [notice: { session: string; kind: 'text' | 'reasoning'; text: string }];
  frame: [notice: { session: string } & BrowserFrame];
  /** Output of a call while it runs. */
  output: [notice: { session: string; call: string; text: string }];
  copied: [notice: { session: string; done: number; total: number | null }];
}

/** Transient notices that are sent to current listeners and never stored. */
@Injectable()
export class TransientNotices extends EventEmitter<TransientNoticeMap> {
  constructor() {
    super();
    // Every editor and every watching socket adds a listener.
    this.setMaxListeners(0);
  }

  delta(session: string, kind: 'text' | 'reasoning', text: string): void {
    this.emit('delta', { session, kind, text });
  }

  output(session: string, call: string, text: string): void {
    this.emit('output', { session, call, text });
  }

  copied(session: string, done: number, total: number | null): void {
    this.emit('copied', { session, done, total });
  }

  frame(session: string, frame: BrowserFrame): void {
    this.emit('frame', { session, ...frame });
  }
}
