import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { AppError, ignoreError, usuallyIgnored } from '@belay/protocol';
import { z } from 'zod';
import { asUser } from '../user-separation.js';
import { charsetOf, decodeText } from './charset.js';
import { errorNumber, throwIfAborted } from './fault.js';
import { maxEditable } from './file-bytes.js';
import type { FoundMatches, FoundLine, SearchInput } from './found-matches.js';
import { openFolder, type WorkspacePath, type WorkspaceFolder } from './workspace-folder.js';

const text = z.union([
  z.object({ text: z.string() }).transform((value) => value.text),
  z.object({ bytes: z.string() }).transform((value) => {
    const bytes = Buffer.from(value.bytes, 'base64');
    return decodeText(bytes, charsetOf(bytes));
  }),
]);

/** The lines of `rg --json` that are used here. */
const report = z.object({
  type: z.enum(['match', 'context']),
  data: z.object({
    path: text,
    lines: text,
    line_number: z.int().nullable(),
    /** Offsets in bytes. */
    submatches: z.array(z.object({ start: z.int() })).default([]),
  }),
});

interface Task {
  workspace: WorkspaceFolder;
  rg: string;
  input: SearchInput;
}

/** Searches below a folder that is held open, so that a link swapped in meanwhile is not followed. */
export function searchWithRipgrep(
  task: Task,
  found: FoundMatches,
  signal: AbortSignal,
): Promise<void> {
  const { workspace, input } = task;
  return workspace.reach(input.path, async (place) => {
    const start = startOf(place);
    try {
      const { file, args } = asUser(task.rg, [...ripgrepArguments(input), '--', start.target]);
      const child = spawn(file, args, {
        // This is the child’s own descriptor until it executes the program; other processes cannot access the agent’s.
        cwd: start.folder.at,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {},
      });
      const stop = () => child.kill('SIGKILL');
      signal.addEventListener('abort', stop, { once: true });
      await collect(child, input, (line) => found.add({ ...line, path: start.pathOf(line.path) }));
      signal.removeEventListener('abort', stop);
      throwIfAborted(signal);
    } finally {
      closeSync(start.folder.fd);
    }
  });
}

/** Ripgrep’s starting folder: the searched folder, or the one that contains the searched file. */
function startOf(place: WorkspacePath) {
  try {
    const folder = openFolder(place.at, place.path);
    const prefix = place.path === '.' ? '' : `${place.path}/`;
    return { folder, target: './', pathOf: (path: string) => prefix + path.replace(/^\.\//, '') };
  } catch (error) {
    if (errorNumber(error) !== 'ENOTDIR') throw error;
    const name = place.path.slice(place.path.lastIndexOf('/') + 1);
    const folder = openFolder(place.parent, '');
    return { folder, target: `./${name}`, pathOf: () => place.path };
  }
}

function ripgrepArguments(input: SearchInput): string[] {
  const byName = input.pattern === '';
  return [
    '--no-config',
    '--hidden',
    '--no-require-git',
    '--no-ignore-global',
    '--no-messages',
    `--max-filesize=${maxEditable}`,
    '--sort=path',
    '--glob=!.git',
    ...usuallyIgnored.map((name) => `--glob=!${name}/`),
    // A file type, unlike a glob, does not include files that .gitignore hides.
    ...(input.name ? nameArguments(input.name) : []),
    ...(byName
      ? ['--files']
      : [
          '--json',
          `--context=${input.context}`,
          input.literal ? '--fixed-strings' : '--crlf',
          input.ignoreCase ? '--ignore-case' : '--case-sensitive',
          `--regexp=${input.pattern}`,
        ]),
  ];
}

const nameArguments = (name: string): string[] =>
  name.includes('/') ? [`--glob=${name}`] : [`--type-add=named:${name}`, '--type=named'];

type Report = (line: FoundLine) => boolean;

async function collect(child: ChildProcess, input: SearchInput, add: Report): Promise<void> {
  const ended = once(child, 'close');
  ended.catch(ignoreError('it is awaited once the output ends'));
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    if (errors.length < 4_000) errors += chunk;
  });
  let full = false;
  if (child.stdout) {
    for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
      if (full || line === '') continue;
      full = !addLine(line, input, add);
      if (full) child.kill('SIGKILL');
    }
  }
  const [code] = await ended;
  if (!full && code === 2 && errors !== '') {
    throw new AppError('invalid_input', `The search failed: ${errors.replace(/^rg: /, '').trim()}`);
  }
}

function addLine(line: string, input: SearchInput, add: Report): boolean {
  if (input.pattern === '') return add({ path: line, line: 0, text: '', at: 0 });
  const { success, data: hit } = report.safeParse(JSON.parse(line));
  if (!success) return true;
  const { path, lines, line_number: number, submatches } = hit.data;
  const bytes = submatches[0]?.start ?? 0;
  const at = Buffer.from(lines).subarray(0, bytes).toString().length;
  return add({ path, line: number ?? 0, text: lines, ...(hit.type === 'match' && { at }) });
}
