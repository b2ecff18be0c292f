import { sentWorkspace } from '@belay/protocol';
import { client } from '@/lib/server';
import { toastError } from '@/lib/toasts';
import {
  archiveOf,
  comparisonOf,
  newSessionsOf,
  workspaceFor,
  type SessionForm,
} from './session-form';

/**
 * The most sessions that a folder is sent to directly, since browsers allow six connections to a
 * server. For more sessions, the folder is uploaded once and stored on the server.
 */
const mostSent = 4;

export type Started = { comparison: string } | { sessions: string[] };

/** Starts what the form describes; `onPhase` receives the current phase as a label. */
export async function startSessions(
  form: SessionForm,
  onPhase: (phase: string) => void,
): Promise<Started> {
  const files = form.workspace.kind === 'folder' ? form.workspace.files : undefined;
  onPhase(files ? 'Uploading…' : 'Starting…');
  const archive = files && sessionCount(form) <= mostSent ? await archiveOf(files) : undefined;
  const workspace = archive ? sentWorkspace : await workspaceFor(form);
  onPhase('Starting…');
  const comparison = comparisonOf(form, workspace);
  if (comparison) return { comparison: (await client.comparisons.create(comparison)).id };
  const sessions = [];
  for (const session of newSessionsOf(form, workspace))
    sessions.push((await client.sessions.create(session)).id);
  // The session page shows the progress of the upload.
  if (archive) for (const id of sessions) send(id, archive);
  return { sessions };
}

/** How many sessions the form would start. */
export const sessionCount = (form: SessionForm): number =>
  newSessionsOf(form, null).length * (comparisonOf(form, null) ? form.runs : 1);

/** Sends the archive into the sandbox of a session that waits for it. */
function send(session: string, archive: Uint8Array): void {
  client.uploads.toSession(session, archive, { bytes: archive.length }).catch(toastError);
}
