import { join } from 'node:path';
import { ignoreError, type AgentProgram } from '@belay/protocol';
import type { ServerConnection } from '../server-connection.js';
import { writeProgramFiles } from './write-program-files.js';

interface Target {
  connection: Pick<ServerConnection, 'call'>;
  program: Pick<AgentProgram, 'home'>;
  /** The folder that the program works in. */
  cwd: string;
}

/**
 * Writes the conversation so far where the session’s program looks for its own ones. Returns the id by which it can be
 * continued; null if the program has no such files, or it cannot be written.
 */
export async function writeConversation(target: Target): Promise<string | null> {
  const written = await write(target).catch(ignoreError('a transcript tells the conversation'));
  return written ?? null;
}

async function write({ connection, program, cwd }: Target): Promise<string | undefined> {
  const { file } = await connection.call('program.conversation', { cwd });
  if (!file) return undefined;
  writeProgramFiles([{ path: join(program.home, file.path), text: file.text }]);
  return file.id;
}
