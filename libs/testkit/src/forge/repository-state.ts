import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { diffLines, type DiffLines } from './diff-lines.js';
import type {
  PlayedCheck,
  PlayedFork,
  PlayedLineComment,
  PlayedPull,
  PlayedRelease,
  PlayedReview,
  PlayedThread,
} from './forge-records.js';
import { beforeOf, ForgeState, isPlayedPull, type Who } from './forge-state.js';
import { noCommit } from './played-git.js';

export interface NewLine {
  path: string;
  line: number;
  side?: 'new' | 'old';
  body: string;
}

/** What a played host keeps about the commits of its repository: pull requests, reviews, checks, releases. */
export class RepositoryState extends ForgeState {
  readonly forks: PlayedFork[] = [];
  readonly checks: PlayedCheck[] = [];
  readonly releases: PlayedRelease[] = [];
  #refs = new Map<string, Map<string, string>>();

  get pulls(): PlayedPull[] {
    return this.issues.filter(isPlayedPull);
  }

  /** Makes a fork of the repository with its own branches. */
  fork({ by }: { by: Who }): PlayedFork {
    const owner = this.who(by);
    const path = `${owner.name}/${this.path.split('/').at(-1)}`;
    const folder = this.git.fork(path);
    const fork = { id: this.nextId(), owner, path, folder, isDeleted: false };
    this.forks.push(fork);
    this.#refs.set(folder, this.git.refs(folder));
    return fork;
  }

  /** Deletes a fork. Its pull requests stay, without a repository of the branch. */
  deleteFork(fork: PlayedFork): void {
    fork.isDeleted = true;
    rmSync(fork.folder, { recursive: true });
    rmSync(join(fork.folder.replace(/\.git$/, '')));
  }

  /** Commits files to a branch, which begins at the default branch if it is new. Returns the commit. */
  push(
    branch: string,
    options: {
      by: Who;
      files: Readonly<Record<string, string | null>>;
      message?: string;
      fork?: PlayedFork;
      /** Replaces the branch by a commit that follows this one. */
      onto?: string;
    },
  ): string {
    const { by, files, message = 'change', fork, onto } = options;
    const folder = fork?.folder ?? this.git.folder;
    const ref = `refs/heads/${branch}`;
    const start = this.git.resolve(ref, folder) ?? this.git.resolve(this.defaultBranch, folder);
    const author = this.who(by).name;
    const from = onto ?? start ?? null;
    const sha = this.git.commit({ ref, from, message, author, files, at: this.now() }, folder);
    this.noticePushes(by);
    return sha;
  }

  /** Compares all branches with how they were last seen, and tells of each that moved. */
  noticePushes(by: Who): void {
    for (const fork of this.forks.filter(({ isDeleted }) => !isDeleted)) {
      this.git.share(fork.folder, fork.id);
      this.#compare(by, fork);
    }
    this.#compare(by, null);
  }

  openPull(options: {
    by: Who;
    branch: string;
    base?: string;
    title: string;
    body?: string;
    isDraft?: boolean;
    fork?: PlayedFork | null;
  }): PlayedPull {
    const { by, branch, base = this.defaultBranch, isDraft = false, fork = null } = options;
    const sha = this.git.resolve(`refs/heads/${branch}`, fork?.folder);
    const tip = this.git.resolve(`refs/heads/${base}`);
    if (!sha || !tip) throw new Error(`There is no branch ${sha ? base : branch}. Push it first.`);
    if (fork) this.git.share(fork.folder, fork.id);
    const baseSha = this.git.mergeBase(tip, sha);
    const change = { branch, base, sha, baseSha, isDraft, merged: null, fork };
    const issue = this.newIssue({ ...options, pull: { ...change, reviews: [], threads: [] } });
    if (!isPlayedPull(issue)) throw new Error('A pull request has a branch.');
    this.#keepHead(issue);
    this.changed(issue, 'opened', { by });
    return issue;
  }

  setDraft(pull: PlayedPull, isDraft: boolean, { by }: { by: Who }): void {
    const before = beforeOf(pull);
    pull.pull.isDraft = isDraft;
    this.changed(pull, isDraft ? 'converted_to_draft' : 'ready_for_review', { by, before });
  }

  /** Adds a review with its comments on lines. `isOnChange` tells which lines hosts accept. */
  review(
    pull: PlayedPull,
    options: {
      by: Who;
      verdict: PlayedReview['verdict'];
      body?: string;
      lines?: NewLine[];
      /** Whether comments on a line with a thread are part of it, as Gitea has it. */
      joins?: boolean;
    },
  ): PlayedReview {
    const { by, verdict, body = '', lines = [], joins = false } = options;
    const { sha } = pull.pull;
    const review = { ...this.newText(body, by), verdict, sha };
    pull.pull.reviews.push(review);
    pull.updated = review.created;
    const made = lines.map((line) => this.#thread(pull, line, { review, joins }));
    this.onEvent({ type: 'review', issue: pull, review, by: review.author });
    for (const { thread, comment } of made)
      this.onEvent({ type: 'line', issue: pull, thread, comment, by: review.author });
    return review;
  }

  reply(
    pull: PlayedPull,
    thread: PlayedThread,
    { by, body }: { by: Who; body: string },
  ): PlayedLineComment {
    const author = this.who(by);
    const review = { ...this.newText('', by), verdict: 'comment' as const, sha: pull.pull.sha };
    pull.pull.reviews.push(review);
    const comment = { ...this.newText(body, by), review: review.id };
    thread.comments.push(comment);
    pull.updated = comment.created;
    this.onEvent({ type: 'line', issue: pull, thread, comment, by: author });
    return comment;
  }

  /** Whether a line is shown in the pull request’s change. */
  isOnChange(pull: PlayedPull, { path, line, side = 'new' }: Omit<NewLine, 'body'>): boolean {
    const lines = this.linesOf(pull, path);
    return (side === 'new' ? lines.fresh : lines.old).has(line);
  }

  /** The lines of a file that the pull request’s change shows, with so many around each change. */
  linesOf({ pull }: PlayedPull, path: string, context = 3): DiffLines {
    return diffLines(this.git.patch(pull.baseSha, pull.sha, path, context));
  }

  /** Where the line of a thread is now; null if its text was changed since. */
  lineNow(pull: PlayedPull, { path, line, side, sha }: PlayedThread): number | null {
    if (sha === pull.pull.sha) return line;
    if (side === 'old') return null;
    const text = this.git.blob(sha, path)?.split('\n')[line - 1];
    return this.git.blob(pull.pull.sha, path)?.split('\n')[line - 1] === text ? line : null;
  }

  /** Sets the checks of a commit by name, and tells of them. */
  setChecks(
    sha: string,
    checks: (Pick<PlayedCheck, 'name' | 'state'> &
      Partial<Pick<PlayedCheck, 'kind' | 'url' | 'summary'>>)[],
    { by = this.self }: { by?: Who } = {},
  ): PlayedCheck[] {
    const time = this.time();
    const branch = this.#branchAt(sha);
    const changed = checks.map(({ kind = 'run', url = null, summary = null, ...check }) => {
      const known = this.checks.find((one) => one.sha === sha && one.name === check.name);
      const fresh = { id: this.nextId(), sha, branch, kind, url, summary, created: time };
      const made: PlayedCheck = known ?? { ...fresh, ...check, updated: time };
      Object.assign(made, { ...check, summary, url, updated: time });
      if (!known) this.checks.push(made);
      return made;
    });
    const all = this.checksAt(sha);
    this.onEvent({ type: 'checks', sha, branch, changed, all, by: this.who(by) });
    return changed;
  }

  checksAt(sha: string): PlayedCheck[] {
    return this.checks.filter((one) => one.sha === sha);
  }

  /** Merges by git; returns the merge, or nothing when there are conflicts. */
  merge(pull: PlayedPull, { by }: { by: Who }): string | undefined {
    const { branch, base, sha: tip } = pull.pull;
    const sha = this.git.merge(base, tip, `Merge pull request #${pull.number} from ${branch}`);
    if (sha === undefined) return undefined;
    pull.pull.merged = { sha, by: this.who(by), at: this.time() };
    this.setOpen(pull, false, { by });
    this.noticePushes(by);
    return sha;
  }

  publishRelease(options: {
    by: Who;
    tag: string;
    title?: string;
    body?: string;
    isPrerelease?: boolean;
  }): PlayedRelease {
    const { by, tag, title = tag, body = '', isPrerelease = false } = options;
    const author = this.who(by);
    const tip = this.git.resolve(this.defaultBranch);
    if (tip && !this.git.resolve(`refs/tags/${tag}`)) this.git.setRef(`refs/tags/${tag}`, tip);
    const created = this.time();
    const shown = { tag, title, body, author, isDraft: false, isPrerelease, created };
    const release = { id: this.nextId(), ...shown };
    this.releases.push(release);
    this.noticePushes(by);
    this.onEvent({ type: 'release', release, by: author });
    return release;
  }

  #thread(
    pull: PlayedPull,
    { path, line, side = 'new', body }: NewLine,
    { review, joins }: { review: PlayedReview; joins: boolean },
  ): { thread: PlayedThread; comment: PlayedLineComment } {
    const comment = { ...this.newText(body, review.author), review: review.id };
    const isThere = (one: PlayedThread) =>
      one.path === path && one.line === line && one.side === side;
    const known = joins ? pull.pull.threads.find(isThere) : undefined;
    known?.comments.push(comment);
    if (known) return { thread: known, comment };
    const at = { path, line, side, sha: pull.pull.sha };
    const thread = { id: comment.id, ...at, isResolved: false, comments: [comment] };
    pull.pull.threads.push(thread);
    return { thread, comment };
  }

  #branchAt(sha: string): string | null {
    const found = [...this.git.refs()].find(
      ([ref, at]) => at === sha && ref.startsWith('refs/heads/'),
    );
    const pull = this.pulls.find((one) => one.pull.sha === sha);
    return found?.[0].slice('refs/heads/'.length) ?? pull?.pull.branch ?? null;
  }

  #compare(by: Who, fork: PlayedFork | null): void {
    const folder = fork?.folder ?? this.git.folder;
    const now = this.git.refs(folder);
    const then = this.#refs.get(folder);
    this.#refs.set(folder, now);
    if (!then) return;
    for (const ref of new Set([...then.keys(), ...now.keys()])) {
      const [before, after] = [then.get(ref) ?? noCommit, now.get(ref) ?? noCommit];
      if (before === after) continue;
      if (!fork) this.onEvent({ type: 'push', ref, before, after, by: this.who(by) });
      this.#moved(ref.replace('refs/heads/', ''), { before, after, fork, by });
    }
  }

  #moved(
    branch: string,
    {
      before,
      after,
      fork,
      by,
    }: { before: string; after: string; fork: PlayedFork | null; by: Who },
  ): void {
    if (after === noCommit) return;
    for (const pull of this.pulls) {
      const isHere = pull.pull.branch === branch && pull.pull.fork === fork && pull.isOpen;
      if (!isHere || pull.pull.sha === after) continue;
      pull.pull.sha = after;
      const tip = this.git.resolve(`refs/heads/${pull.pull.base}`);
      if (tip) pull.pull.baseSha = this.git.mergeBase(tip, after);
      this.#keepHead(pull);
      this.changed(pull, 'synchronize', { by, oldSha: before });
    }
  }

  /** Keeps the commits of a pull request, also those of forks, below a ref of the host. */
  #keepHead({ number, pull }: PlayedPull): void {
    const folder = this.kind === 'gitlab' ? 'merge-requests' : 'pull';
    this.git.setRef(`refs/${folder}/${number}/head`, pull.sha);
  }
}
