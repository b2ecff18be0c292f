import type { EventWriter } from '../event-writer.js';

export interface ScreencastFrame {
  jpeg: Uint8Array<ArrayBuffer>;
  width: number;
  height: number;
  url: string;
}

export interface BrowserOptions {
  /** Downloads go into its folder `downloads`. */
  workspace: string;
  /** Folder for the browser’s profile. */
  state: string;
  writer: EventWriter;
  putBlob(type: string, bytes: Uint8Array<ArrayBuffer>): Promise<string>;
  /** Resolves when the frame was taken: the next one is sent no earlier. */
  sendFrame(frame: ScreencastFrame): Promise<void>;
  /** The DevTools address of a browser beside a sandbox that has none, for the call with this id. */
  sidecar(call: string): Promise<string>;
  /** HTTP proxy for everything but loopback; null for direct connections. */
  proxy: string | null;
  /** Path of Chromium; looked for in the sandbox when omitted. */
  chromium?: string;
  env: Record<string, string>;
  /** A page that takes longer to respond, in milliseconds, hangs. */
  answerMs?: number;
}
