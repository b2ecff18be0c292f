import { AppError, errorFrom, type ActionKind } from '@belay/protocol';
import type { ActionFile } from './action-files.js';
import { readManifest, type Declared, type ReadManifest } from './manifest.js';
import { readServerFile } from './server-file.js';
import { readSkillFile } from './skill-file.js';

/** An action in a source, not yet installed. Its files are relative to its folder. */
export interface FoundAction extends ReadManifest {
  kind: ActionKind;
  folder: string;
  files: readonly ActionFile[];
  readme: string | null;
}

export interface SourceActions {
  actions: FoundAction[];
  /** Folders that look like actions but cannot be used, each with a sentence. */
  faults: { folder: string; fault: string }[];
}

/** Files that declare an action; if a folder has several, the first in this order counts. */
const declarations = ['manifest.json', 'SKILL.md', 'server.json'] as const;
type Declaration = (typeof declarations)[number];

interface Candidate {
  folder: string;
  by: Declaration;
}

/** Folders whose subfolders may be one level deeper. */
const collections = ['actions', 'skills', '.agents', '.claude'];
/** Front matter as Markdown renderers omit it. */
const frontMatter = /^---[^]*?\n---[ \t]*\r?\n/;
const readmeName = /^readme\.md$/i;
const maxReadme = 100_000;
const maxActions = 100;

/**
 * The actions of a source: at its root, in a folder of it, below `actions/` or `skills/`, or two levels deep, like
 * RunGPT’s `<namespace>/<action>/`. Folders inside an action are not searched.
 */
export function findActions(files: readonly ActionFile[]): SourceActions {
  const found: SourceActions = { actions: [], faults: [] };
  for (const candidate of candidatesIn(files.map(({ path }) => path))) {
    try {
      found.actions.push(actionIn(candidate, filesOf(files, candidate)));
    } catch (error) {
      found.faults.push({ folder: candidate.folder, fault: errorFrom(error).message });
    }
  }
  return withoutTwins(found);
}

/** Returns a test for paths that belong to an action. Throws `too_large`. */
export function pathsOfActions(paths: readonly string[]): (path: string) => boolean {
  const candidates = candidatesIn(paths);
  return (path) => candidates.some((candidate) => pathWithin(candidate, path) !== undefined);
}

function candidatesIn(paths: readonly string[]): Candidate[] {
  const all = new Set(paths);
  const folders = [...new Set(paths.flatMap(declaredFolder))].toSorted(
    (a, b) => a.length - b.length,
  );
  const found: Candidate[] = [];
  for (const parts of folders.map((folder) => folder.split('/').filter(Boolean))) {
    const isNear =
      parts.length <= 2 || (parts.length === 3 && collections.includes(parts[0] ?? ''));
    const folder = parts.join('/');
    const by = isNear ? declarations.find((name) => all.has(nameOf(folder, name))) : undefined;
    if (!by || found.some((one) => pathWithin(one, nameOf(folder, by)) !== undefined)) continue;
    // Many other projects have a manifest.json; at the root of a browser extension there is no program beside it.
    if (folder === '' && by === 'manifest.json' && !all.has('run')) continue;
    found.push({ folder, by });
  }
  if (found.length > maxActions)
    throw new AppError('too_large', `It has more than ${maxActions} folders with an action.`);
  return found.length === 0 && all.has('manifest.json')
    ? [{ folder: '', by: 'manifest.json' }]
    : found;
}

function declaredFolder(path: string): string[] {
  const at = path.lastIndexOf('/');
  const isDeclared = (declarations as readonly string[]).includes(path.slice(at + 1));
  return isDeclared ? [path.slice(0, Math.max(0, at))] : [];
}

/**
 * The path within the action that contains it. For a server that is published as a registry package, only its
 * description counts: the other files are the package’s source.
 */
function pathWithin({ folder, by }: Candidate, path: string): string | undefined {
  const isBelow = folder === '' || path.startsWith(`${folder}/`);
  const within = isBelow ? path.slice(folder === '' ? 0 : folder.length + 1) : undefined;
  if (within === undefined || by !== 'server.json') return within;
  return within === by || readmeName.test(within) ? within : undefined;
}

function filesOf(files: readonly ActionFile[], candidate: Candidate): ActionFile[] {
  return files.flatMap((file) => {
    const path = pathWithin(candidate, file.path);
    return path === undefined ? [] : [{ ...file, path }];
  });
}

function actionIn({ folder, by }: Candidate, files: readonly ActionFile[]): FoundAction {
  const where = nameOf(folder, by);
  const content = fileOf(files, by)?.content ?? Buffer.alloc(0);
  const isProgramless = by === 'manifest.json' && !fileOf(files, 'run');
  if (isProgramless && !content.includes('"command"'))
    throw new AppError('invalid_input', noProgram(folder));
  for (const file of files) if (isProgram(file)) assertLineEnds(file, folder);
  const read = readers[by]({ content, where, folder, files });
  const { kind = 'action', command } = read.manifest;
  if (isProgramless && !command) throw new AppError('invalid_input', noProgram(folder));
  const readme =
    kind === 'skill' ? fileOf(files, by) : files.find(({ path }) => readmeName.test(path));
  return {
    ...read,
    kind,
    folder,
    files: files.map((file) => (isProgram(file) ? { ...file, executable: true } : file)),
    readme:
      readme?.content.subarray(0, maxReadme).toString('utf8').replace(frontMatter, '') ?? null,
  };
}

const readers: Record<Declaration, (declared: Declared) => ReadManifest> = {
  'manifest.json': ({ content, where }) => readManifest(content, where),
  'SKILL.md': readSkillFile,
  'server.json': readServerFile,
};

/** `run` and `setup` are programs, even if an archive lost their mode. */
const isProgram = ({ path }: ActionFile): boolean => path === 'run' || path === 'setup';

/** The kernel takes the return as a part of the name of the program that runs a script. */
function assertLineEnds({ path, content }: ActionFile, folder: string): void {
  if (!/^#![^\n]{0,200}\r\n/.test(content.toString('latin1', 0, 256))) return;
  throw new AppError(
    'invalid_input',
    `${nameOf(folder, path)} has Windows line ends (CRLF), with which it cannot be started. Save it with line ends LF.`,
  );
}

const noProgram = (folder: string): string =>
  `${nameOf(folder, 'run')} is missing: an action needs an executable of this name beside its manifest.json.`;

const nameOf = (folder: string, file: string): string => (folder ? `${folder}/${file}` : file);

export const fileOf = (files: readonly ActionFile[], path: string): ActionFile | undefined =>
  files.find((file) => file.path === path);

/** Two actions with the same name are both left out. */
function withoutTwins({ actions, faults }: SourceActions): SourceActions {
  const count = Map.groupBy(actions, ({ manifest }) => manifest.name_for_model);
  const isTwin = ({ manifest }: FoundAction) =>
    (count.get(manifest.name_for_model)?.length ?? 0) > 1;
  const twins = actions.filter(isTwin).map(({ folder, manifest }) => ({
    folder,
    fault: `Another action here is also named ${manifest.name_for_model}. Rename one of them.`,
  }));
  return { actions: actions.filter((action) => !isTwin(action)), faults: [...faults, ...twins] };
}
