import { posix } from 'node:path';
import { parse } from 'smol-toml';
import { parentsOf, type Entry } from './entries.js';

/** Programs and their settings: a changed one could fake test results. */
const systemFolders =
  /^\/(usr|bin|sbin|lib|lib32|lib64|libx32|opt|etc|boot|dev|proc|sys|run|toolchain|var\/(lib|cache|log|run|spool))(\/|$)/;

/** The harness's own folders. */
const harnessFolders =
  /^\/(tests|solution|oracle|verify[^/]*|belay|logs\/verifier|\.dockerenv)(\/|$)/;

/**
 * Shell start-up files, user site-packages, ~/.local/bin: read by test scripts in the next
 * container.
 */
const homeSettings = /^\/(root|home\/[^/]+)\/\.[^/]+/;

const anywhere = (...names: string[]) => new RegExp(`(^|/)(${names.join('|')})(/|$)`);

/**
 * Folders above these: a link in their place would lead the scripts of the next container to
 * settings elsewhere.
 */
const aboveSettings = /^\/(root|home(\/[^/]+)?|var|logs)$/;

/**
 * Settings of Python's test runners, files that shadow their modules, files that Python loads
 * automatically, and its caches, which may differ from their sources.
 */
const pythonRunners = anywhere(
  'conftest\\.py',
  '\\.?pytest\\.(ini|toml)',
  'tox\\.ini',
  'setup\\.cfg',
  'sitecustomize\\.py',
  'usercustomize\\.py',
  '[^/]+\\.pth',
  '_?pytest(\\.py)?',
  '__pycache__',
);

/** Metadata of packages, by which pytest finds plugins. Python ignores the case of these names. */
const pythonMetadata = /\.(dist|egg)-info(\/|$)/i;

/** The same for JavaScript's test runners, including their packages. */
const javascriptRunners = anywhere(
  '(jest|vitest|karma|ava)\\.(config|conf)\\.[a-z]+',
  '\\.?jasmine\\.(json|m?js)',
  '\\.mocharc[^/]*',
  '\\.(taprc|nycrc|npmrc)',
  'node_modules/(\\.bin|@jest|jest[^/]*|mocha|jasmine[^/]*|vitest|ava|tap|chai|expect)',
);

/** Hooks and settings through which git runs programs. */
const gitSettings = /(^|\/)\.git\/(.*\/)?(hooks|config(\.worktree)?|info\/attributes)(\/|$)/;

/** Whether a path of the agent's container may reach the verifier. */
export const isCollected = (path: string): boolean =>
  posix.isAbsolute(path) &&
  posix.normalize(path) === path &&
  ![
    systemFolders,
    harnessFolders,
    homeSettings,
    pythonRunners,
    pythonMetadata,
    javascriptRunners,
    gitSettings,
  ].some((rule) => rule.test(path));

/**
 * Keeps the entries that may reach the verifier, judged by path and by the settings that they
 * contain. Drops entries below a link or a file, because the archive would be unpacked through it.
 */
export function filterArtifacts(entries: Entry[]): Entry[] {
  const own = entries.filter(
    (entry) =>
      isCollected(entry.path) &&
      !(entry.kind !== 'folder' && aboveSettings.test(entry.path)) &&
      !isGitLink(entry) &&
      !configuresRunner(entry),
  );
  return reachable(own);
}

/** The entries without a link or a file among their parents. */
export function reachable(entries: Entry[]): Entry[] {
  const walls = new Set(entries.flatMap(({ kind, path }) => (kind === 'folder' ? [] : [path])));
  return entries.filter(({ path }) => !parentsOf(path).some((parent) => walls.has(parent)));
}

/** A `.git` that is a file or a link can point to any settings. */
const isGitLink = ({ path, kind }: Entry) => kind !== 'folder' && posix.basename(path) === '.git';

/**
 * Project files are part of the solution, unless a test runner reads its settings from them: pytest
 * searches upwards from its tests to the root folder.
 */
function configuresRunner({ path, kind, bytes }: Entry): boolean {
  const name = posix.basename(path);
  if (name === 'pyproject.toml')
    return posix.dirname(path) === '/' || kind !== 'file' || toolsOf(bytes).some(isPythonRunner);
  if (name === 'package.json') return kind !== 'file' || keysOf(bytes).some(isJavascriptRunner);
  return false;
}

const isPythonRunner = (tool: string) => ['pytest', 'tox'].includes(tool);
const isJavascriptRunner = (key: string) =>
  ['jest', 'mocha', 'jasmine', 'vitest', 'ava', 'tap'].includes(key);

/** A file that cannot be parsed counts as settings, because a runner might read it differently. */
function toolsOf(bytes: Buffer): string[] {
  try {
    const { tool } = parse(bytes.toString()) as { tool?: object };
    return Object.keys(tool ?? {});
  } catch {
    return ['pytest'];
  }
}

function keysOf(bytes: Buffer): string[] {
  try {
    return Object.keys(JSON.parse(bytes.toString()) as object);
  } catch {
    return ['jest'];
  }
}
