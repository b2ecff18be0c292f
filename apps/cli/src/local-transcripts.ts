import { open, readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AppError, isFields, maxTranscriptLength, type AgentChoice } from '@belay/protocol';

type Place = NonNullable<AgentChoice['transcripts']>;

/** The folder of a program’s settings on this machine. */
export const programFolder = ({ variable, folder }: Place): string =>
  process.env[variable] || join(homedir(), folder);

/** The name of a transcript; those of subagents have no UUID. */
const transcriptName = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.jsonl$/;
/** The levels of folders that are searched, and how many of the newest files are looked into. */
const mostLevels = 5;
const mostFiles = 500;
/** The part at the beginning of a transcript that says which folder it is about. */
const headBytes = 256 * 1024;

/** The newest transcript of these agents about a folder. Throws `not_found`. */
export async function latestTranscript(
  agents: readonly AgentChoice[],
  folder: string,
): Promise<{ file: string; from: string }> {
  const found = await Promise.all(
    agents.map(async ({ name, transcripts }) => {
      if (!transcripts) return [];
      const files = await filesBelow(join(programFolder(transcripts), transcripts.below));
      return files.map((file) => ({ ...file, from: name }));
    }),
  );
  const newest = found.flat().toSorted((a, b) => b.changed - a.changed);
  for (const { file, from } of newest.slice(0, mostFiles))
    if ((await folderOf(file)) === folder) return { file, from };
  const titles = agents.flatMap(({ title, transcripts }) => (transcripts ? title : []));
  throw new AppError(
    'not_found',
    `There is no conversation of ${titles.join(' or ')} about ${folder}. Name its file, or its folder with --workspace.`,
  );
}

/** The text of a transcript. */
export async function readTranscript(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new AppError('invalid_input', `There is no file ${file}.`);
  if (found.size > maxTranscriptLength)
    throw new AppError('too_large', `${file} is larger than 64 MiB.`);
  return readFile(file, 'utf8');
}

interface FoundFile {
  file: string;
  /** When it was changed last, in milliseconds. */
  changed: number;
}

/** Links are not followed. */
async function filesBelow(folder: string, levels = mostLevels): Promise<FoundFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map(async (entry): Promise<FoundFile[]> => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return levels > 1 ? filesBelow(path, levels - 1) : [];
      if (!entry.isFile() || !transcriptName.test(entry.name)) return [];
      const known = await stat(path).catch(() => undefined);
      return known ? [{ file: path, changed: known.mtimeMs }] : [];
    }),
  );
  return found.flat();
}

/** The folder that the first line with one names. */
async function folderOf(file: string): Promise<string | undefined> {
  const handle = await open(file).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    for (const line of buffer.toString('utf8', 0, bytesRead).split('\n')) {
      const folder = folderIn(line);
      if (folder !== undefined) return folder;
    }
    return undefined;
  } finally {
    await handle.close();
  }
}

function folderIn(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isFields(value)) return undefined;
    const { cwd = isFields(value['payload']) ? value['payload']['cwd'] : undefined } = value;
    return typeof cwd === 'string' ? cwd : undefined;
  } catch {
    return undefined;
  }
}
