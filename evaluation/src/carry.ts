import { posix } from 'node:path';
import type { Box } from './engine/box.js';
import type { Entry } from './entries.js';

/** What an agent's work brings to the verification. */
export interface Submission {
  /** Absolute paths. */
  entries: Entry[];
  removed: string[];
  patch: Buffer | null;
  /** Paths that were changed and are not carried, for the record. */
  left: string[];
  timedOut: boolean;
  /** A verification even of an empty patch: that is what a baseline is for. */
  always: boolean;
  /** What the agent said at its end. */
  note: string;
  /** Why the agent could not work, when that is not its own doing. */
  broken: string | null;
}

export const nothing: Submission = {
  entries: [],
  removed: [],
  patch: null,
  left: [],
  timedOut: false,
  always: false,
  note: '',
  broken: null,
};

/** Programs and their settings: a changed one could answer for the tests. */
const systemFolders =
  /^\/(usr|bin|sbin|lib|lib32|lib64|libx32|opt|etc|boot|dev|proc|sys|run|toolchain|var\/(lib|cache|log|run|spool))(\/|$)/;

/** The harness's own folders. */
const harnessFolders = /^\/(tests|solution|oracle|verify|belay|logs\/verifier|\.dockerenv)(\/|$)/;

/** Shell start files, user site-packages, ~/.local/bin: read by the test scripts of the next container. */
const homeSettings = /^\/(root|home\/[^/]+)\/\.[^/]+/;

/** Settings and shadows of test runners, and what git runs by itself. */
const runnerSettings =
  /(^|\/)(conftest\.py|\.?pytest\.(ini|toml)|tox\.ini|setup\.cfg|sitecustomize\.py|usercustomize\.py|[^/]+\.pth|_?pytest(\.py)?|jest\.config\.[a-z]+|\.mocharc[^/]*|\.npmrc|\.git\/(hooks|config|info\/attributes))(\/|$)/;

/** Whether a path of the agent's container may reach the verification. */
export const isCarried = (path: string): boolean =>
  ![systemFolders, harnessFolders, homeSettings, runnerSettings].some((rule) => rule.test(path));

/** The changes of an ended container that may be carried. */
export async function changesOf(box: Box): Promise<Submission> {
  const changes = await box.changes();
  const folders = new Set(changes.map(({ path }) => posix.dirname(path)));
  const added = new Set(changes.filter(({ kind }) => kind === 'added').map(({ path }) => path));
  const entries: Entry[] = [];
  const removed: string[] = [];
  const left: string[] = [];
  for (const { path, kind } of changes) {
    if (!isCarried(path)) left.push(path);
    else if (kind === 'removed') removed.push(path);
    else if (kind === 'added') {
      // An archive of a new folder has all that is in it.
      if (!added.has(posix.dirname(path))) entries.push(...(await box.read(path)));
    } else if (!folders.has(path)) entries.push(...(await box.read(path)));
  }
  return {
    ...nothing,
    entries: entries.filter(({ path }) => isCarried(path)),
    removed,
    left: left.filter((path) => !folders.has(path)),
  };
}

/** Changes of one step and then of another. */
export function after(before: Submission, later: Submission): Submission {
  const entries = new Map(before.entries.map((entry) => [entry.path, entry]));
  for (const gone of later.removed)
    for (const path of entries.keys())
      if (path === gone || path.startsWith(`${gone}/`)) entries.delete(path);
  for (const entry of later.entries) entries.set(entry.path, entry);
  const removed = [...before.removed, ...later.removed].filter((path) => !entries.has(path));
  return {
    ...later,
    entries: [...entries.values()],
    removed,
    left: [...before.left, ...later.left],
  };
}
