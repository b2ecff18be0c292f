import { glob, realpath, stat, readFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import {
  AppError,
  type GuidanceHash,
  type Handlers,
  type workspaceOperations,
} from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import { textHash, type TrustedTexts } from '../loop/trusted-texts.js';
import { frontMatter } from './front-matter.js';

export interface GuidanceFile {
  path: string;
  text: string;
}

export interface Guidance {
  handlers: Handlers<Pick<typeof workspaceOperations, 'workspace.trust'>, CallContext>;
  /**
   * Guidance for work on these paths that was not returned before: AGENTS.md of their folders and of parent folders,
   * and names and descriptions of skills. Unreadable files and untrusted texts are left out.
   */
  read(
    paths: readonly string[],
    known: ReadonlyMap<string, string>,
    trusted: TrustedTexts,
  ): Promise<GuidanceFile[]>;
  /** Trusts the guidance that exists now. */
  trustPresent(): Promise<void>;
}

const guideName = 'AGENTS.md';
const skillPattern = '.agents/skills/*/SKILL.md';
/** Characters of a file that are followed; more would crowd out the work. */
const longestText = 64_000;
const mostFiles = 100;

/** AGENTS.md and skills of a workspace. Trust applies to texts: later files and changes are not trusted. */
export function createGuidance({ workspace }: { workspace: string }): Guidance {
  const present = new Map<string, string>();
  const text = (path: string) => readInside(workspace, path);
  const all = async (): Promise<GuidanceFile[]> =>
    existing(await find(workspace, [`**/${guideName}`, skillPattern]), text);
  return {
    handlers: {
      async 'workspace.trust'({ shown }) {
        const files = (await all()).map((file) => ({ ...file, hash: textHash(file.text) }));
        refuseOthers(files, shown);
        return { files };
      },
    },
    async read(paths, known, trusted) {
      const guides = foldersOf(workspace, paths).map((folder) => join(folder, guideName));
      const skills = await find(workspace, [skillPattern]);
      const isNew = (path: string) => !known.has(path);
      const trustedText = async (path: string): Promise<string | null> => {
        const whole = await text(path);
        if (whole === null) return null;
        const hash = textHash(whole);
        return present.get(path) === hash || trusted.get(path)?.has(hash) ? whole : null;
      };
      return [
        ...(await existing(guides.filter(isNew), trustedText)),
        ...(await existing(skills.filter(isNew), async (path) => {
          const whole = await trustedText(path);
          return whole === null ? null : describe(path, whole);
        })),
      ];
    },
    async trustPresent() {
      for (const file of await all()) present.set(file.path, textHash(file.text));
    },
  };
}

/** Throws `conflict` when there is guidance that the user was not shown. */
function refuseOthers(files: readonly GuidanceHash[], shown?: readonly GuidanceHash[]): void {
  const isShown = (file: GuidanceHash) =>
    shown?.some(({ path, hash }) => path === file.path && hash === file.hash);
  const other = shown && files.find((file) => !isShown(file));
  if (!other) return;
  throw new AppError('conflict', `${other.path} has changed since it was shown. Review it again.`);
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

/** The workspace’s root, and every folder from there down to each path. */
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

/** Files of installed packages are not guidance: the user was neither shown them nor trusts them. */
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

/** Null when the file does not exist, or leads out of the workspace. */
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
