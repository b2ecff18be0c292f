import type { Event, SessionSummary } from '@belay/protocol';
import type { FileList } from '@/features/code/files-query';

/** What a shared file carries: a session’s log and what the panels show beside it. */
export interface Recording {
  summary: SessionSummary;
  events: readonly Event[];
  /** Bytes of each terminal, as base64. */
  terminals: Record<string, string>;
  blobs: Record<string, string>;
  files: FileList;
  /** Text of each changed file before the session; null when it was made in it. */
  bases: Record<string, string | null>;
  diff: string;
}

/** Where the page of a recording has its data. */
export const recordingMark = '<!--recording-->';
export const recordingId = 'recording';

/** Puts a recording into the player’s page. No text of it can end its script. */
export function fillPage(page: string, recording: Recording): string {
  const json = JSON.stringify(recording).replaceAll('<', String.raw`\u003c`);
  const script = `<script type="application/json" id="${recordingId}">${json}</script>`;
  return page.replace(recordingMark, () => script);
}

export function readRecording(): Recording {
  const text = document.getElementById(recordingId)?.textContent;
  if (!text) throw new Error('This page has no recording in it. Save the session again.');
  return JSON.parse(text) as Recording;
}

export const toBase64 = (bytes: Uint8Array): string => {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 8_192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(binary);
};

export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
