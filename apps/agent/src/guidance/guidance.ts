import { glob, realpath, stat, readFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Handlers, workspaceOperations } from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import { frontMatter } from './front-matter.js';

export interface GuidanceFile {
  path: string;
  text: string;
}

export interface Guidance {
  handlers: Handlers<Pick<typeof workspaceOperations, 'workspace.trust'>, CallContext>;
  /**
   * What guides work on these paths and is not known yet: AGENTS.md of their folders and of those above, and
   * name and description of the skills. A file that cannot be read is left out.
   */
  read(paths: readonly string[], known: ReadonlyMap<string, string>): Promise<GuidanceFile[]>;
}

const guideName = 'AGENTS.md';
const skillPattern = '.agents/skills/*/SKILL.md';
/** More than this of a file is not followed: it would crowd out the work. */
const longestText = 64_000;
const mostFiles = 100;

/** AGENTS.md and skills of a workspace. Nothing here decides whether they are trusted. */
export function createGuidance({ workspace }: { workspace: string }): Guidance {
  const text = (path: string) => readInside(workspace, path);
  return {
    handlers: {
      async 'workspace.trust'() {
        const found = await find(workspace, [`**/${guideName}`, skillPattern]);
        return { files: await existing(found, text) };
      },
    },
    async read(paths, known) {
      const guides = foldersOf(workspace, paths).map((folder) => join(folder, guideName));
      const skills = await find(workspace, [skillPattern]);
      const isNew = (path: string) => !known.has(path);
      return [
        ...(await existing(guides.filter(isNew), text)),
        ...(await existing(skills.filter(isNew), async (path) => {
          const whole = await text(path);
          return whole === null ? null : describe(path, whole);
        })),
      ];
    },
  };
}

function describe(path: string, text: string): string {
  const { name, description } = frontMatter(text);
  const title = name ?? path.split('/').at(-2) ?? path;
  return description ? `${title}: ${description}` : title;
}

async function existing(
  paths: readonly string[],
  read: (path: string) => Promise<string | null>,
): Promise<GuidanceFile[]> {
  const files = await Promise.all(paths.map(async (path) => ({ path, text: await read(path) })));
  return files.filter((file): file is GuidanceFile => file.text !== null);
}

/** The workspace's root, and every folder from there down to each path. */
function foldersOf(workspace: string, paths: readonly string[]): string[] {
  const folders = new Set(['']);
  for (const path of paths) {
    const inside = isAbsolute(path) ? relative(workspace, path) : join(path);
    const parts = inside.split(sep).filter((part) => part !== '.' && part !== '');
    if (parts[0] === '..' || isAbsolute(inside) || parts.some(isForeign)) continue;
    parts.forEach((_, index) => folders.add(parts.slice(0, index + 1).join('/')));
  }
  return [...folders];
}

/** What is installed there guides nobody: it is not what a person was shown and trusted. */
const isForeign = (folder: string): boolean => folder === 'node_modules' || folder === '.git';

async function find(workspace: string, patterns: string[]): Promise<string[]> {
  const found: string[] = [];
  const exclude = (path: string) => isForeign(basename(path));
  try {
    for await (const path of glob(patterns, { cwd: workspace, exclude })) {
      found.push(path);
      if (found.length >= mostFiles) break;
    }
  } catch {
    // A folder that may not be read has no guidance for us.
  }
  return found.sort();
}

/** Null when there is no such file, or it leads out of the workspace. */
async function readInside(workspace: string, path: string): Promise<string | null> {
  try {
    const real = await realpath(join(workspace, path));
    const root = await realpath(workspace);
    if (!`${dirname(real)}${sep}`.startsWith(`${root}${sep}`)) return null;
    if (!(await stat(real)).isFile()) return null;
    return (await readFile(real, 'utf8')).slice(0, longestText);
  } catch {
    return null;
  }
}
