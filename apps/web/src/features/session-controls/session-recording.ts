import type { Event, SessionSummary } from '@belay/protocol';
import type { FileList } from '@/features/session-files/files-query';

/** What a shared file carries: a session’s log and what the panels show beside it. */
export interface SessionRecording {
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
const recordingMark = '<!--recording-->';
const recordingId = 'recording';

/** Puts a recording into the player’s page. No text of it can end its script. */
export function fillPage(page: string, recording: SessionRecording): string {
  const json = JSON.stringify(recording).replaceAll('<', String.raw`\u003c`);
  const script = `<script type="application/json" id="${recordingId}">${json}</script>`;
  return page.replace(recordingMark, () => script);
}

export function readRecording(): SessionRecording {
  const text = document.getElementById(recordingId)?.textContent;
  if (!text) throw new Error('This page contains no recording. Save the session again.');
  return JSON.parse(text) as SessionRecording;
}
