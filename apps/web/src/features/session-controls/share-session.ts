import {
  errorFrom,
  ignoreError,
  isEvent,
  type Event,
  type EventOf,
  type SessionSummary,
} from '@belay/protocol';
import { listFiles } from '@/features/session-files/files-query';
import { toBase64 } from '@/lib/base64';
import { downloadFile } from '@/lib/download-file';
import { fileName } from '@/lib/file-name';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import { fillPage, type FileVersion, type SessionRecording } from './session-recording';
import { ensureSandbox } from './use-can-act';

const page = 5_000;
const mostBlobs = 200;
const mostFiles = 100;
const mostVersions = 1_000;
const atOnce = 8;

/** Saves the session as one HTML file that can be replayed without a server. */
export async function shareSession(summary: SessionSummary): Promise<void> {
  toast('Collecting the session…');
  const player = await fetch('/player.html');
  if (!player.ok) throw new Error('The server has no player page. Rebuild the dashboard.');
  // The versions of files are in its history.
  await ensureSandbox(summary.id).catch(
    ignoreError('the log and the terminals are shared without'),
  );
  const recording = await recordingOf(summary);
  const html = fillPage(await player.text(), recording);
  downloadFile(`${fileName(summary.title)}.html`, html, 'text/html');
}

/** Everything about a session that can be read now. */
export async function recordingOf(summary: SessionSummary): Promise<SessionRecording> {
  const events = await allEvents(summary.id);
  return {
    summary,
    events,
    terminals: await terminalsOf(summary.id, events),
    blobs: await shownBlobs(summary.id, events),
    ...(await filesOf(summary.id, events)),
  };
}

async function allEvents(id: string): Promise<Event[]> {
  const events: Event[] = [];
  let more: Event[];
  do {
    more = await client.sessions.events(id, { after: events.at(-1)?.seq ?? 0, limit: page });
    events.push(...more);
  } while (more.length > 0);
  return events.map(withoutIdentity);
}

/** Removes the user’s git name and email, which must not be shared. */
const withoutIdentity = (event: Event): Event =>
  isEvent(event, 'start') ? { ...event, args: { ...event.args, gitIdentity: null } } : event;

async function terminalsOf(id: string, events: readonly Event[]): Promise<Record<string, string>> {
  const names = new Set<string>();
  for (const event of events) if (isEvent(event, 'terminal')) names.add(event.args.terminal);
  return Object.fromEntries(
    await Promise.all(
      [...names].map(async (name) => [name, toBase64(await client.sessions.terminal(id, name))]),
    ),
  ) as Record<string, string>;
}

/** Pictures, and what reruns printed. */
async function shownBlobs(id: string, events: readonly Event[]): Promise<Record<string, string>> {
  const wanted = new Set(events.flatMap(blobsShownIn));
  const blobs: Record<string, string> = {};
  for (const blob of [...wanted].slice(-mostBlobs))
    blobs[blob] = toBase64(await client.sessions.blob(id, blob));
  return blobs;
}

function blobsShownIn(event: Event): readonly string[] {
  if (isEvent(event, 'browser')) return event.args.screenshot ? [event.args.screenshot] : [];
  if (isEvent(event, 'publish')) {
    const runs = event.args.reruns?.claims.flatMap((claim) => claim.runs) ?? [];
    return runs.flatMap(({ output }) => output ?? []);
  }
  const isShown =
    isEvent(event, 'result') ||
    isEvent(event, 'background-result') ||
    isEvent(event, 'message') ||
    isEvent(event, 'start');
  return isShown ? (event.args.images ?? []) : [];
}

type Files = Pick<SessionRecording, 'list' | 'files' | 'texts'>;

/**
 * The file list, and each version of the changed files that the history has. Without its sandbox, a session has only
 * its log.
 */
async function filesOf(id: string, events: readonly Event[]): Promise<Files> {
  const commits = events.filter((event) => isEvent(event, 'commit'));
  const wanted = wantedVersions(commits);
  const texts = new Map<string, number>();
  const files = new Map<string, FileVersion[]>();
  const unreadable = new Set<string>();
  // A few at a time: a long session has thousands of versions.
  for (let at = 0; at < wanted.length; at += atOnce) {
    const some = wanted.slice(at, at + atOnce);
    const read = await Promise.all(some.map(({ path, commit }) => textAt(id, path, commit)));
    for (const [index, { path, seq }] of some.entries()) {
      const text = read[index];
      if (text === undefined) unreadable.add(path);
      else {
        if (text !== null && !texts.has(text)) texts.set(text, texts.size);
        const version = { seq, text: text === null ? null : (texts.get(text) ?? null) };
        files.set(path, [...(files.get(path) ?? []), version]);
      }
    }
  }
  // With a gap, another version than the right one would be shown.
  for (const path of unreadable) files.delete(path);
  const none = {
    entries: [...files.keys()].map((path) => ({ path, kind: 'file' as const, size: 0 })),
    left: 0,
    untraversed: [],
  };
  return {
    list: await listFiles(id).catch(() => none),
    files: Object.fromEntries(files),
    texts: [...texts.keys()],
  };
}

interface WantedVersion {
  path: string;
  commit: string | null;
  seq: number;
}

/** The base of each changed file, and one version for each commit that changed it. */
function wantedVersions(commits: readonly (Event & EventOf<'commit'>)[]): WantedVersion[] {
  // The first commit has no parent if it records the initial workspace.
  const first = commits[0]?.args.parent ?? commits[0]?.args.commit ?? null;
  const byPath = new Map<string, WantedVersion[]>();
  for (const { seq, args } of commits)
    for (const { path } of args.files) {
      const known = byPath.get(path) ?? [{ path, commit: first, seq: 0 }];
      byPath.set(path, [...known, { path, commit: args.commit, seq }]);
    }
  const all: WantedVersion[] = [];
  for (const versions of [...byPath.values()].slice(0, mostFiles))
    if (all.length + versions.length <= mostVersions) all.push(...versions);
  return all;
}

/** Null if there was no such text file; undefined if it can no longer be read. */
async function textAt(
  id: string,
  path: string,
  commit: string | null,
): Promise<string | null | undefined> {
  if (!commit) return null;
  try {
    const { content, encoding } = await client.sessions.call(id, 'workspace.show', {
      commit,
      path,
    });
    return encoding === 'utf8' ? content : null;
  } catch (error) {
    return errorFrom(error).code === 'not_found' ? null : undefined;
  }
}
