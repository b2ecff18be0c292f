import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '@belay/protocol';
import { clientFor, findSession, type PrintOptions } from '../connection.js';
import { programFolder } from '../local-transcripts.js';
import { printResult } from '../output.js';
import { checkedFolder } from '../workspace/plan-workspace.js';

export interface ExportTranscriptOptions extends PrintOptions {
  /** The name of the agent that is to continue. */
  format: string;
  output?: string;
  cwd?: string;
}

/** `belay export --format AGENT`: a session’s conversation where that agent on this machine finds it. */
export async function exportTranscript(
  name: string,
  { format, output, cwd = '.', ...options }: ExportTranscriptOptions,
): Promise<void> {
  const client = clientFor(options);
  const { id: session } = await findSession(client, name);
  const folder = await checkedFolder(cwd);
  const { id, path, text } = await client.sessions.transcript(session, { format, cwd: folder });
  if (output === '-') return void process.stdout.write(text);
  const agents = await client.agents.list();
  const place = agents.find((agent) => agent.name === format)?.transcripts;
  if (!place)
    throw new AppError('internal', `The server does not say where ${format} keeps files.`);
  const file = output ?? join(programFolder(place), path);
  await write(file, text);
  printResult(
    options,
    { session, format, file, id },
    `Wrote ${file}.`,
    ...(output === undefined ? [`Continue in ${folder}: ${place.resume} ${id}`] : []),
  );
}

/** Only the user may read a conversation. */
async function write(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const { message } = error as Error;
    throw new AppError('unavailable', `${file} was not written: ${message}.`);
  }
}
