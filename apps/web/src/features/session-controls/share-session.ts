import { isEvent, type Event, type SessionSummary } from '@belay/protocol';
import { listFiles } from '@/features/session-files/files-query';
import { toBase64 } from '@/lib/base64';
import { downloadFile } from '@/lib/download-file';
import { fileName } from '@/lib/file-name';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import { fillPage, type SessionRecording } from './session-recording';

const page = 5_000;
const mostPictures = 200;
const mostFiles = 100;

/** Saves the session as one HTML file that can be replayed without a server. */
export async function shareSession(summary: SessionSummary): Promise<void> {
  toast('Collecting the session…');
  const player = await fetch('/player.html');
  if (!player.ok) throw new Error('The server has no player page. Rebuild the dashboard.');
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
    blobs: await picturesOf(summary.id, events),
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

async function picturesOf(id: string, events: readonly Event[]): Promise<Record<string, string>> {
  const blobs = new Set(
    events.flatMap((event) =>
      isEvent(event, 'browser')
        ? (event.args.screenshot ?? [])
        : isEvent(event, 'result') ||
            isEvent(event, 'background-result') ||
            isEvent(event, 'message') ||
            isEvent(event, 'start')
          ? (event.args.images ?? [])
          : [],
    ),
  );
  const pictures: Record<string, string> = {};
  for (const blob of [...blobs].slice(-mostPictures))
    pictures[blob] = toBase64(await client.sessions.blob(id, blob));
  return pictures;
}

type Files = Pick<SessionRecording, 'files' | 'bases' | 'diff'>;

/**
 * The original texts of changed files, the file list and the diff. Without its sandbox, a session
 * has only its log.
 */
async function filesOf(id: string, events: readonly Event[]): Promise<Files> {
  const commits = events.filter((event) => isEvent(event, 'commit'));
  // The first commit has no parent if it records the initial workspace.
  const first = commits[0]?.args.parent ?? commits[0]?.args.commit ?? null;
  const paths = new Set(commits.flatMap(({ args }) => args.files.map(({ path }) => path)));
  const bases: Record<string, string | null> = {};
  for (const path of [...paths].slice(0, mostFiles)) bases[path] = await textAt(id, path, first);
  const none = {
    entries: [...paths].map((path) => ({ path, kind: 'file' as const, size: 0 })),
    left: 0,
    untraversed: [],
  };
  return {
    bases,
    files: await listFiles(id).catch(() => none),
    diff: await client.sessions.call(id, 'workspace.diff', {}).then(
      ({ diff }) => diff,
      () => '',
    ),
  };
}

/** Null if there was no such text file, or it can no longer be read. */
async function textAt(id: string, path: string, commit: string | null): Promise<string | null> {
  if (!commit) return null;
  try {
    const { content, encoding } = await client.sessions.call(id, 'workspace.show', {
      commit,
      path,
    });
    return encoding === 'utf8' ? content : null;
  } catch {
    return null;
  }
}
