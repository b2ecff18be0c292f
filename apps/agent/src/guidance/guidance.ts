import { glob, realpath, stat, readFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import {
  AppError,
  type GuidanceHash,
  type Handlers,
  type workspaceOperations,
} from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import { guidedBy, guideFiles } from '../loop/guide-files.js';
import { textHash, type TrustedTexts } from '../loop/trusted-texts.js';
import { frontMatter } from './front-matter.js';

export interface GuidanceFile {
  path: string;
  text: string;
}

export interface Guidance {
  handlers: Handlers<Pick<typeof workspaceOperations, 'workspace.trust'>, CallContext>;
  /**
   * Guidance for work on these paths that was not returned before: the guides of their folders and of parent folders,
   * and names and descriptions of skills. Unreadable files and untrusted texts are left out.
   */
  read(
    paths: readonly string[],
    known: ReadonlyMap<string, string>,
    trusted: TrustedTexts,
  ): Promise<GuidanceFile[]>;
  /** Trusts the guidance that exists now. */
  trustPresent(): Promise<void>;
  /** Shows the files that match these globs for trust as well: the session’s program reads them by itself. */
  show(project: readonly string[]): void;
}

const skillPattern = '.agents/skills/*/SKILL.md';
/** Characters of a file that are followed; more would crowd out the work. */
const longestText = 64_000;
const mostFiles = 100;
/** As many as can be reviewed at once. */
const mostShown = 200;

/** Guides (`AGENTS.md` or those of other agents) and skills of a workspace. Trust applies to texts: later files and changes are not trusted. */
export function createGuidance({ workspace }: { workspace: string }): Guidance {
  const present = new Map<string, string>();
  let project: readonly string[] = [];
  const text = (path: string) => readInside(workspace, path);
  const all = async (): Promise<GuidanceFile[]> => {
    const patterns = guideFiles.map((file) => `**/${file}`);
    const files = [
      ...firstOfFolders(await existing(await find(workspace, patterns), text)),
      ...(await existing(await find(workspace, [skillPattern]), text)),
    ];
    return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  };
  const guidesOf = async (folder: string): Promise<GuidanceFile[]> => {
    const found = await find(join(workspace, folder), guideFiles);
    const paths = found.map((path) => join(folder, path));
    return firstOfFolders(await existing(paths, text));
  };
  return {
    handlers: {
      async 'workspace.trust'({ shown }) {
        const guides = (await all()).map((file) => ({ ...file, hash: textHash(file.text) }));
        const settings = await projectFiles(workspace, project);
        const others = settings.filter(({ path }) => !guides.some((guide) => guide.path === path));
        const files = [...guides, ...others];
        refuseOthers(files, shown);
        return { files };
      },
    },
    async read(paths, known, trusted) {
      const guides = (await Promise.all(foldersOf(workspace, paths).map(guidesOf))).flat();
      const skills = await find(workspace, [skillPattern]);
      const isNew = (path: string) => !known.has(path);
      const isTrusted = (file: GuidanceFile): boolean => {
        const hash = textHash(file.text);
        return present.get(file.path) === hash || trusted.get(file.path)?.has(hash) === true;
      };
      const found = await existing(skills.filter(isNew), text);
      return [
        ...guides.filter((file) => isNew(file.path) && isTrusted(file)),
        ...found.filter(isTrusted).map((file) => ({ ...file, text: describe(file) })),
      ];
    },
    async trustPresent() {
      for (const file of await all()) present.set(file.path, textHash(file.text));
    },
    show(globs) {
      project = globs;
    },
  };
}

/**
 * The files of the project that a program reads by itself. Throws `too_large` if there are more than a user can review.
 */
async function projectFiles(
  workspace: string,
  globs: readonly string[],
): Promise<TrustedProjectFile[]> {
  const found: TrustedProjectFile[] = [];
  for (const path of await find(workspace, globs, mostShown + 1)) {
    const whole = await readInside(workspace, path, Number.POSITIVE_INFINITY);
    // Folders match globs, too.
    if (whole === null) continue;
    const rest = whole.length - longestText;
    const note = `\n[The agent also reads ${rest} more characters of this file.]`;
    const text = rest > 0 ? whole.slice(0, longestText) + note : whole;
    const { mode } = await stat(join(workspace, path));
    const executable = (mode & 0o111) !== 0;
    found.push({ path, text, hash: textHash(whole), ...(executable && { executable }) });
  }
  if (found.length > mostShown - mostFiles)
    throw new AppError(
      'too_large',
      `The workspace has more than ${mostShown - mostFiles} files that the agent would follow. Start a session that trusts them from the start, or remove some.`,
    );
  return found;
}

type TrustedProjectFile = GuidanceFile & { hash: string; executable?: true };

/** Throws `conflict` when there is guidance that the user was not shown. */
function refuseOthers(files: readonly GuidanceHash[], shown?: readonly GuidanceHash[]): void {
  const isShown = (file: GuidanceHash) =>
    shown?.some(({ path, hash }) => path === file.path && hash === file.hash);
  const other = shown && files.find((file) => !isShown(file));
  if (!other) return;
  throw new AppError('conflict', `${other.path} has changed since it was shown. Review it again.`);
}

function describe({ path, text }: GuidanceFile): string {
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

/** Only the best kind of guide of each folder. */
function firstOfFolders(guides: readonly GuidanceFile[]): GuidanceFile[] {
  const best = new Map<string, number>();
  for (const { path } of guides) {
    const { folder, rank } = guidedBy(path);
    best.set(folder, Math.min(best.get(folder) ?? rank, rank));
  }
  return guides.filter(({ path }) => {
    const { folder, rank } = guidedBy(path);
    return best.get(folder) === rank;
  });
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

async function find(
  workspace: string,
  patterns: readonly string[],
  most = mostFiles,
): Promise<string[]> {
  const found: string[] = [];
  const exclude = (path: string) => isForeign(basename(path));
  try {
    for await (const path of glob([...patterns], { cwd: workspace, exclude })) {
      found.push(path);
      if (found.length >= most) break;
    }
  } catch {
    // A folder that may not be read has no guidance for us.
  }
  return found.sort();
}

/** Null when the file does not exist, or leads out of the workspace. */
async function readInside(
  workspace: string,
  path: string,
  longest = longestText,
): Promise<string | null> {
  try {
    const real = await realpath(join(workspace, path));
    const root = await realpath(workspace);
    if (!`${dirname(real)}${sep}`.startsWith(`${root}${sep}`)) return null;
    if (!(await stat(real)).isFile()) return null;
    return (await readFile(real, 'utf8')).slice(0, longest);
  } catch {
    return null;
  }
}
