import type { Event, SessionSummary } from '@belay/protocol';
import type { FileList } from '@/features/session-files/files-query';

/** The content of a shared file: a session’s log, and the other data its panels show. */
export interface SessionRecording {
  summary: SessionSummary;
  events: readonly Event[];
  /** The output of each terminal, base64-encoded. */
  terminals: Record<string, string>;
  blobs: Record<string, string>;
  list: FileList;
  /** The versions of each changed file, from its base on: those in the history, in the order of the log. */
  files: Record<string, readonly FileVersion[]>;
  /** The texts of all versions, each once. */
  texts: readonly string[];
}

export interface FileVersion {
  /** The commit’s event; 0 for the state before the session. */
  seq: number;
  /** Its place among the texts; null if there is no such text file. */
  text: number | null;
}

/** The placeholder in the player page that is replaced by the recording. */
const recordingMark = '<!--recording-->';
const recordingId = 'recording';

/** Embeds a recording in the player page. Escapes `<`, so that no text can close the script tag. */
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
