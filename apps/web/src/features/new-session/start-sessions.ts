import { AppError, errorFrom, sentWorkspace } from '@belay/protocol';
import { uploadPicture } from '@/features/chat/composer/picture';
import { client, uploadClient } from '@/lib/server';
import { toastError } from '@/lib/toasts';
import { packTar, unreadableFile } from './pack-tar';
import {
  comparisonOf,
  newSessionsOf,
  sentFiles,
  workspaceOf,
  type SessionForm,
} from './session-form';

/**
 * The most sessions that a folder is sent to directly, since browsers allow six connections to a
 * server. For more sessions, the folder is uploaded once and stored on the server.
 */
const mostSent = 4;

export type Started = { comparison: string } | { sessions: string[] };

/** What is being done, with the share that is done, if it is known. */
export interface StartPhase {
  label: string;
  share?: number;
}

/** Starts what the form describes. */
export async function startSessions(
  form: SessionForm,
  onPhase: (phase: StartPhase) => void,
): Promise<Started> {
  const files = sentFiles(form);
  const archive = files && packTar(files);
  const isSent = archive !== undefined && sessionCount(form) <= mostSent;
  const workspace = isSent
    ? sentWorkspace
    : archive
      ? await stored(form, archive, (share) => onPhase({ label: 'Uploading…', share }))
      : workspaceOf(form);
  onPhase({ label: 'Starting…' });
  const uploaded = { workspace, images: await uploadedPictures(form) };
  const comparison = comparisonOf(form, uploaded);
  if (comparison) return { comparison: (await client.comparisons.create(comparison)).id };
  const sessions = [];
  for (const session of newSessionsOf(form, uploaded))
    sessions.push((await client.sessions.create(session)).id);
  // The session page shows the progress of the upload.
  if (isSent) for (const id of sessions) send(form, id, archive);
  return { sessions };
}

/** How many sessions the form would start. */
export const sessionCount = (form: SessionForm): number =>
  newSessionsOf(form, none).length * (comparisonOf(form, none) ? form.runs : 1);

const none = { workspace: null };

async function uploadedPictures({ pictures }: SessionForm): Promise<string[]> {
  const images = [];
  for (const { file } of pictures) {
    const picture = await uploadPicture(file);
    if (picture === null)
      throw new AppError(
        'invalid_input',
        `${file.name} is not a picture that models can read. Remove it, or put it into the folder.`,
      );
    images.push(picture);
  }
  return images;
}

async function stored(
  form: SessionForm,
  archive: Blob,
  onShare: (share: number) => void,
): Promise<string> {
  onShare(0);
  const sending = uploadClient((bytes) => onShare(bytes / archive.size)).uploads.workspace(archive);
  return (await sending.catch((error: unknown) => explained(form, error))).workspace;
}

/** Sends the archive into the sandbox of a session that waits for it. */
function send(form: SessionForm, session: string, archive: Blob): void {
  client.uploads
    .toSession(session, archive, { bytes: archive.size })
    .catch((error: unknown) => explained(form, error))
    .catch(toastError);
}

/** A browser reports a file that changed while it was sent like a server that does not answer. */
async function explained(form: SessionForm, error: unknown): Promise<never> {
  const files = sentFiles(form);
  if (!files || errorFrom(error).code !== 'unavailable') throw error;
  const changed = await unreadableFile(files);
  if (changed === undefined) throw error;
  throw new AppError(
    'conflict',
    `${changed} changed while it was sent, so the folder was not copied. Choose the folder again and start the session once more.`,
  );
}
