import type { EventWriter } from '../event-writer.js';

export interface ScreencastFrame {
  jpeg: Uint8Array<ArrayBuffer>;
  width: number;
  height: number;
  url: string;
}

export interface BrowserOptions {
  /** Downloads are saved in its folder `downloads`. */
  workspace: string;
  /** The folder of the browser’s profile. */
  state: string;
  writer: EventWriter;
  putBlob(type: string, bytes: Uint8Array<ArrayBuffer>): Promise<string>;
  /** Resolves when the frame was accepted; the next one is sent only then. */
  sendFrame(frame: ScreencastFrame): Promise<void>;
  /** The DevTools address of a browser beside the sandbox, if the sandbox has none; for the call with this id. */
  sidecar(call: string): Promise<string>;
  /** HTTP proxy for everything but loopback; null for direct connections. */
  proxy: string | null;
  /** The path of Chromium; searched for in the sandbox when omitted. */
  chromium?: string;
  env: Record<string, string>;
  /** A page that takes longer than this to respond counts as hanging, in milliseconds. */
  answerMs?: number;
  /** How long a document that an action asked for is awaited, in milliseconds. */
  loadMs?: number;
}
