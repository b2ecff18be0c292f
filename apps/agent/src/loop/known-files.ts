import {
  fileConflictOf,
  fileNewsOf,
  type EventArgs,
  type FileChange,
  type FileConflict,
  type FileNews,
} from '@belay/protocol';
import { changedFile, shownFile, wholeFile, type KnownFile } from '../known-file.js';

type Files = Map<string, KnownFile>;
type News<K extends FileNews['kind']> = Extract<FileNews, { kind: K }>;

/**
 * What the model knows of files. A call’s line numbers mean what the last prompt showed: results that come during a
 * reply count from the next prompt on, but the reply’s own changes count at once.
 */
export class KnownFiles {
  #files: Files;
  /** As they will be known with the next prompt. */
  #next: Files;

  constructor(files: Files = new Map(), next: Files = new Map()) {
    this.#files = files;
    this.#next = next;
  }

  get files(): ReadonlyMap<string, KnownFile> {
    return this.#files;
  }

  fork(): KnownFiles {
    return new KnownFiles(new Map(this.#files), new Map(this.#next));
  }

  /**
   * Records the result of a model’s call; one that is cut in the prompt shows nothing. Returns a file whose changes a
   * refusal has shown completely.
   */
  addResult(result: EventArgs<'result'>, { isCut = false } = {}): FileConflict | undefined {
    for (const news of fileNewsOf(result)) {
      if (news.kind === 'shown' && isCut) continue;
      learn(this.#next, news);
      follow(this.#files, news);
    }
    const conflict = result.ok || isCut ? undefined : fileConflictOf(result.output);
    if (!conflict) return undefined;
    const { path, version, shown, hunks, lines: parts } = conflict;
    const before = this.#next.get(path)?.version ?? null;
    if (shown) learn(this.#next, { kind: 'told', path, before, version, hunks });
    if (parts && version !== null) learn(this.#next, { kind: 'shown', path, version, parts });
    return shown ? conflict : undefined;
  }

  /** Records a user’s changes that the next prompt tells. */
  addChanges(changes: readonly FileChange[]): void {
    for (const change of changes) learn(this.#next, { kind: 'told', ...change });
  }

  /** The model gets a prompt with everything so far. */
  show(): void {
    this.#files = new Map(this.#next);
  }
}

/** What a reader of a result knows. */
function learn(known: Files, news: FileNews): void {
  if (news.kind === 'moved') return move(known, news);
  const { path, version } = news;
  const before = known.get(path);
  if (version === null) known.delete(path);
  else if (news.kind === 'written') known.set(path, wholeFile(version));
  else if (news.kind === 'shown') known.set(path, shownFile(before, version, news.parts));
  else if (follows(before, news)) known.set(path, changedFile(before, version, news.hunks));
}

/** What the author of a reply knows while its calls run. */
function follow(known: Files, news: FileNews): void {
  if (news.kind === 'shown') return;
  if (news.kind === 'moved') return move(known, news);
  const { path, version } = news;
  const before = known.get(path);
  if (news.kind === 'written' || version === null) return learn(known, news);
  if (!before || !follows(before, news)) return;
  const { hunks } = news;
  const isOwn = news.kind === 'changed' && hunks !== undefined;
  known.set(
    path,
    isOwn
      ? { ...before, version, changes: [...before.changes, hunks] }
      : { version, lines: [], changes: [] },
  );
}

/** Whether a reader knew the file’s state before a change. */
const follows = (
  known: KnownFile | undefined,
  { before }: News<'changed'> | News<'told'>,
): boolean => before === undefined || (known?.version ?? null) === before;

/** Moving a folder moves its files. */
function move(known: Files, { from, to }: News<'moved'>): void {
  const moved = [...known].filter(([path]) => path === from || path.startsWith(`${from}/`));
  for (const [path, file] of moved) {
    known.delete(path);
    known.set(to + path.slice(from.length), file);
  }
}
