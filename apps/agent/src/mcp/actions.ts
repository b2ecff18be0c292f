import {
  actionNamed,
  actionOutput,
  startedAction,
  type ActionOutput,
  type EventOf,
  type StartedAction,
} from '@belay/protocol';
import type { CheckedCall } from '../check-call.js';
import type { ServerConnection } from '../server-connection.js';
import { actionFileName, putWhole } from './whole-result.js';

export const isAction = ({ operation }: CheckedCall): boolean =>
  actionNamed(operation.name) !== undefined;

interface Calling {
  id: string;
  signal: AbortSignal;
  /** The name of the called operation. */
  name: string;
  /** See `AgentServices`. */
  placeSkill(name: string, archive: Uint8Array): Promise<string | null>;
}

/**
 * Calls an installed action; the server runs the call as it is in the log, or only starts it if it runs in the
 * background. Throws the server’s errors.
 */
export async function callInstalledAction(
  connection: Pick<ServerConnection, 'call'>,
  { id, signal, name, placeSkill }: Calling,
): Promise<StartedAction | (ActionOutput & { file?: string; folder?: string })> {
  const answer = await connection.call('action.call', { id }, { signal });
  const started = startedAction.safeParse(answer);
  if (started.success) return started.data;
  const { archive, ...output } = actionOutput.parse(answer);
  if (archive !== undefined) {
    const { bytes } = await connection.call('blobs.get', { blob: archive }, { signal });
    const folder = await placeSkill(actionNamed(name) ?? '', bytes);
    return folder === null ? output : { folder, ...output };
  }
  const file = await putWhole(connection, output.full, { name: actionFileName(id), signal });
  return file === undefined ? output : { ...output, file };
}

/** Stores the full text of a long background result in a file, as for other calls. */
export async function putBackgroundResult(
  connection: Pick<ServerConnection, 'call'>,
  { id = '', args }: EventOf<'background-result'>,
  signal: AbortSignal,
): Promise<void> {
  const { data } = actionOutput.safeParse(args.output);
  await putWhole(connection, data?.full, { name: actionFileName(id), signal });
}
