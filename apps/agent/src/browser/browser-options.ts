import type { Journal } from '../journal.js';

export interface Frame {
  jpeg: Uint8Array<ArrayBuffer>;
  width: number;
  height: number;
  url: string;
}

export interface BrowserOptions {
  /** Downloads go into its folder `downloads`. */
  workspace: string;
  /** Folder for the browser's profile. */
  state: string;
  journal: Journal;
  putBlob(type: string, bytes: Uint8Array<ArrayBuffer>): Promise<string>;
  /** Resolves when the frame was taken: the next one is sent no earlier. */
  sendFrame(frame: Frame): Promise<void>;
  /** The DevTools address of a browser beside a sandbox that has none. */
  sidecar(): Promise<string>;
  /** HTTP proxy for everything but loopback; null to go out directly. */
  proxy: string | null;
  /** Path of Chromium; looked for in the sandbox when left out. */
  chromium?: string;
  env: Record<string, string>;
}
