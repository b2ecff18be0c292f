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
  /** Folders that look like an action and cannot be used, with a sentence each. */
  faults: { folder: string; fault: string }[];
}

/** The files that say what a folder is; where several are, the first counts. */
const declarations = ['manifest.json', 'SKILL.md', 'server.json'] as const;
type Declaration = (typeof declarations)[number];

interface Candidate {
  folder: string;
  by: Declaration;
}

/** Below these, folders may be one level deeper. */
const collections = ['actions', 'skills', '.agents', '.claude'];
/** As readers of Markdown leave it out. */
const frontMatter = /^---[^]*?\n---[ \t]*\r?\n/;
const readmeName = /^readme\.md$/i;
const maxReadme = 100_000;
const maxActions = 100;

/**
 * The actions of a source: at its root, in a folder of it, below `actions/` or `skills/`, or two levels deep, as RunGPT’s
 * `<namespace>/<action>/`. What is inside an action is its own.
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

/** Which of these paths belong to an action. Throws `too_large`. */
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
    // Many other things have a manifest.json: at the root of an extension for browsers, there is no program beside it.
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
 * The path within an action that has it. Of a server that is a package of a registry only what describes it counts: what
 * stands beside it is the package’s source.
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

/** `run` and `setup` are programs, also where an archive lost their mode. */
const isProgram = ({ path }: ActionFile): boolean => path === 'run' || path === 'setup';

const noProgram = (folder: string): string =>
  `${nameOf(folder, 'run')} is missing: an action needs an executable of this name beside its manifest.json.`;

const nameOf = (folder: string, file: string): string => (folder ? `${folder}/${file}` : file);

export const fileOf = (files: readonly ActionFile[], path: string): ActionFile | undefined =>
  files.find((file) => file.path === path);

/** Of two of one name neither can be meant. */
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
