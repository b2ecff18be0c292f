import { userIdentity } from '@belay/host';
import { sentWorkspace } from '@belay/protocol';
import { clientFor, serverUrl, type PrintOptions } from '../connection.js';
import { latestTranscript, readTranscript } from '../local-transcripts.js';
import { outputTo, printResult } from '../output.js';
import { checkedFolder, planWorkspace } from '../workspace/plan-workspace.js';
import { sendWorkspace } from '../workspace/send-workspace.js';
import { sessionRequest, type SessionRequestOptions } from './session-request.js';

export interface ImportOptions extends PrintOptions, SessionRequestOptions {
  workspace: string;
}

/** `belay import`: a session that continues a local conversation of another agent, with its files. */
export async function importSession(
  name: string,
  message: string | undefined,
  options: ImportOptions,
): Promise<void> {
  const client = clientFor(options);
  const folder = await checkedFolder(options.workspace);
  const isLatest = name === 'latest';
  const { file, from } = isLatest
    ? await latestTranscript(await client.agents.list(), folder)
    : { file: name, from: undefined };
  const transcript = await readTranscript(file);
  const { task: _, images: __, ...request } = await sessionRequest(client, undefined, options);
  const plan = await planWorkspace(folder);
  const progress = outputTo(process.stderr);
  progress.line(progress.style('dim', `Continues ${file}`));
  const session = await client.sessions.import({
    ...request,
    workspace: sentWorkspace,
    gitIdentity: await userIdentity(folder),
    transcript,
    from,
    message,
  });
  await sendWorkspace(plan, { client, id: session.id, progress });
  printResult(
    options,
    session,
    `${session.id} continues the conversation: ${serverUrl(options)}/sessions/${session.id}`,
    `Follow it: belay attach ${session.id}`,
  );
}
