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

/** A browser has six connections to a server. A folder for more sessions is stored there once, and read by each. */
const mostSent = 4;

export type Started = { comparison: string } | { sessions: string[] };

/** Starts what the form describes; `onPhase` is told what is being done. */
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
  // The page of a session shows how far its files are.
  if (archive) for (const id of sessions) send(id, archive);
  return { sessions };
}

/** How many sessions the form would start. */
export const sessionCount = (form: SessionForm): number =>
  newSessionsOf(form, null).length * (comparisonOf(form, null) ? form.runs : 1);

/** Into the sandbox of the session that waits for it. */
function send(session: string, archive: Uint8Array): void {
  client.uploads.toSession(session, archive, { bytes: archive.length }).catch(toastError);
}
