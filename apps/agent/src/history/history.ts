import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  AppError,
  errorFrom,
  ignoreError,
  newEvent,
  NewestMap,
  type ExportFormat,
  type Handlers,
  type workspaceOperations,
} from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { CallContext } from '../call-context.js';
import type { EventWriter } from '../event-writer.js';
import type { Compare } from '../files/seen-files.js';
import { changesByHand, compareFiles, type ChangesByHand } from './changes-by-hand.js';
import { leftOutNames, ownCommitsNote, recordedSentence } from './commit-sentences.js';
import type { CopyStore } from './copy-sender.js';
import { exportCommit, type ExportSpan } from './export-commit.js';
import { locateGit, Git } from './git.js';
import { HistoryCopies } from './history-copies.js';
import { listedChanges } from './listed-changes.js';
import { OwnCommits, type OwnCommit } from './own-commits.js';
import { addTrackedFiles } from './own-repository.js';
import { Recorder, type Recorded } from './recorder.js';
import { prepareRepository } from './repository.js';
import { RepositoryUpkeep } from './repository-upkeep.js';
import { rewind, type Rewind } from './rewind.js';
import { Steps } from './steps.js';
import { undoStep } from './undo-step.js';

type Operations = Omit<typeof workspaceOperations, 'workspace.trust'>;

export interface HistoryOptions {
  workspace: string;
  /** The folder that contains `history.git`, outside the workspace. */
  state: string;
  writer: EventWriter;
  /** The path of git; searched for when omitted, null for none. */
  git?: string | null;
  /** The size of the repository above which old steps are dropped, in bytes. */
  maxBytes?: number;
  /** How long git may take to read the workspace’s own repository, in milliseconds. */
  ownTimeoutMs?: number;
  /** Where copies of the steps go; without it, there are none. */
  copies?: CopyStore | undefined;
}

export interface RecordedCall {
  id: string;
  /** A description of the step for people. */
  message: string;
  /** Limits the search for changes to these paths of the workspace; a full scan when omitted. */
  paths?: readonly string[];
}

/** The states of the workspace, with a commit for each call that changed files. */
export interface History {
  /** False without git: nothing is recorded, and the handlers throw `unavailable`. */
  readonly available: boolean;
  /** Creates the repository early. Never rejects: `begin` retries a failure. */
  prepare(): Promise<void>;
  /**
   * Records the state before the first operation, after the import; after a restart, the changes since. Never rejects.
   */
  begin(): Promise<void>;
  /** Records a call’s changes, if any, in order. Never rejects: failures are reported in the log. */
  commit(call: RecordedCall): Promise<void>;
  /** A call’s recorded changes, for the model; null if there are none. Never rejects. */
  changesOf(call: string): Promise<ChangesByHand | null>;
  /** Never rejects. */
  readonly compare: Compare;
  /** Exports the latest state (recorded first) or a commit. Rejects with `AppError`. */
  export(format: ExportFormat, span?: ExportSpan): Promise<Readable>;
  readonly copies: Pick<HistoryCopies, 'restorePart' | 'checkOut' | 'flush' | 'close'>;
  readonly handlers: Handlers<Operations, CallContext>;
}

export function createHistory(options: HistoryOptions): History {
  const binary = options.git === undefined ? locateGit() : options.git;
  return binary === null ? missing : new GitHistory(options, binary);
}

const usualOwnTimeoutMs = 10_000;

class GitHistory implements History {
  readonly #options: HistoryOptions;
  readonly available = true;
  readonly #git: Git;
  readonly #recorder: Recorder;
  readonly #steps: Steps;
  readonly #mutex = new Mutex();
  readonly #own: OwnCommits;
  /** The last noted commit of the workspace’s own repository. */
  #latestOwn: string | undefined;
  #repository = false;
  #begun = false;
  /** The last reported failure; empty after a successful step. */
  #fault = '';
  readonly #upkeep: RepositoryUpkeep;
  readonly copies: HistoryCopies;
  /** The latest commits, by call. */
  readonly #latest = new NewestMap<string, Recorded>(mostLatest);

  constructor(options: HistoryOptions, binary: string) {
    this.#options = options;

    const folder = join(options.state, 'history.git');
    const { workspace, ownTimeoutMs = usualOwnTimeoutMs } = options;
    this.#git = new Git({ binary, folder, workspace, ownTimeoutMs });
    this.#recorder = new Recorder(this.#git);
    this.#steps = new Steps(this.#git);
    this.#own = new OwnCommits(this.#git);
    this.#upkeep = new RepositoryUpkeep(this.#git, this.#recorder, options.maxBytes);
    this.copies = new HistoryCopies({
      git: this.#git,
      recorder: this.#recorder,
      own: this.#own,
      state: options.state,
      server: options.copies,
      prepare: () => this.prepare(),
      note: (message) => this.#note(message),
    });
  }

  prepare(): Promise<void> {
    return this.#mutex.runExclusive(() =>
      this.#makeRepository().catch(ignoreError('`begin` tries again')),
    );
  }

  begin(): Promise<void> {
    return this.#mutex.runExclusive(() => this.#reportingFailure(() => this.#recordStart()));
  }

  commit(call: RecordedCall): Promise<void> {
    return this.#mutex.runExclusive(() =>
      this.#reportingFailure(async () => {
        if (!this.#begun) await this.#recordStart();
        await this.#record(call);
      }),
    );
  }

  /** Exports up to a commit, or the latest; a patch may begin at another commit than the first. */
  async export(format: ExportFormat, { commit, from }: ExportSpan = {}): Promise<Readable> {
    const id = await this.#mutex.runExclusive(async () => {
      if (commit !== undefined) return this.#steps.find(commit);
      await this.#record({ id: '', message: 'Changes up to the export' });
      return this.#steps.find('refs/heads/main');
    });
    const before = from === undefined ? undefined : await this.#steps.find(from);
    return exportCommit(this.#git, format, { commit: id, from: before });
  }

  async changesOf(call: string): Promise<ChangesByHand | null> {
    const recorded = this.#latest.get(call);
    if (!recorded) return null;
    const changes = changesByHand(this.#git, recorded);
    return (await changes.catch(ignoreError('the model reads what it needs'))) ?? null;
  }

  readonly compare: Compare = async (before, now) => {
    const lines = compareFiles(this.#git, before, now);
    return (await lines.catch(ignoreError('the file is read again'))) ?? null;
  };

  readonly handlers: Handlers<Operations, CallContext> = {
    'workspace.log': (input) => this.#steps.log(input),
    'workspace.diff': (input, { signal }) => this.#steps.diff(input, signal),
    'workspace.show': (input) => this.#steps.show(input),
    'workspace.rewind': (input, call) =>
      this.#mutex.runExclusive(async () => {
        const asked = await this.#asked(input, call, 'Changes up to the rewind');
        const { recorded, files, commit, to } = await rewind(this.#recorder, this.#git, asked);
        const message = `Rewound the files to ${input.commit.slice(0, 7)}, “${to.message}”`;
        if (recorded) this.#appendCommit(call.id, recorded, { message });
        return { files, commit, to };
      }),
    'workspace.undo': (input, call) =>
      this.#mutex.runExclusive(async () => {
        const asked = await this.#asked(input, call, 'Changes up to the undo');
        const { recorded, ...output } = await undoStep(this.#recorder, this.#git, asked);
        const message = `Undid ${input.commit.slice(0, 7)}, “${output.undone.message}”`;
        if (recorded) this.#appendCommit(call.id, recorded, { message });
        return output;
      }),
  };

  /** Finds the commit; unless it is for a preview, records the changes up to now, so that they are not lost. */
  async #asked(
    { commit, preview }: { commit: string; preview: boolean },
    { id }: CallContext,
    message: string,
  ): Promise<Rewind> {
    const found = await this.#steps.find(commit);
    if (!preview) await this.#record({ id: '', message });
    return { commit: found, preview, call: id };
  }

  async #makeRepository(): Promise<void> {
    if (this.#repository) return;
    mkdirSync(this.#options.state, { recursive: true });
    if (prepareRepository(this.#git)) this.#recorder.beginNew();
    this.#repository = true;
  }

  async #recordStart(): Promise<void> {
    await this.#makeRepository();
    const again = (await this.#recorder.head()) !== null;
    if (!again) await addTrackedFiles(this.#git, this.#recorder);
    await this.#own.begin();
    this.#begun = true;
    const message = again ? 'Changes since the last step' : 'The workspace at the start';
    await this.#record({ id: '', message });
    this.copies.changed();
  }

  /** The work continues without its history; missing changes are recorded with the next successful step. */
  async #reportingFailure(task: () => Promise<void>): Promise<void> {
    try {
      await task();
      this.#fault = '';
    } catch (thrown) {
      const { message } = errorFrom(thrown);
      if (message !== this.#fault) {
        await this.#note(`The history could not be written: ${message}`).catch(
          ignoreError('git fails for the note, too'),
        );
      }
      this.#fault = message;
    }
  }

  async #record({ id, message, paths }: RecordedCall): Promise<void> {
    const committed = this.#own.changed();
    // Files that are committed although they are ignored belong to the patch.
    if (committed) await addTrackedFiles(this.#git, this.#recorder);
    const recorded = await this.#recorder.record({ message, call: id }, paths);
    const leftOut = this.#recorder.takeLeftOut();
    const commits = committed ? await this.#newOwnCommits() : [];
    if (recorded)
      this.#appendCommit(id, recorded, { message: recordedSentence(recorded), leftOut, commits });
    else {
      if (leftOut.length > 0) await this.#note(`The history leaves out ${leftOutNames(leftOut)}`);
      if (commits[0])
        await this.#note(`No file changed; ${ownCommitsNote(commits, commits[0])}`, commits);
    }
    if (recorded) await this.#tidy();
    if (recorded || committed) this.copies.changed();
  }

  /** Empty if the latest commit was already reported. */
  async #newOwnCommits(): Promise<OwnCommit[]> {
    const commits = await this.#own.list();
    const latest = commits[0]?.commit;
    if (latest === this.#latestOwn) return [];
    this.#latestOwn = latest;
    return commits;
  }

  #appendCommit(
    call: string,
    recorded: Recorded,
    about: { message: string; leftOut?: string[]; commits?: OwnCommit[] },
  ): void {
    const { commit, parent } = recorded;
    const { message, leftOut = [], commits = [] } = about;
    this.#latest.set(call, recorded);
    const rest = leftOut.length > 0 ? [`left out ${leftOutNames(leftOut)}`] : [];
    const own = commits[0] ? [ownCommitsNote(commits, commits[0])] : [];
    const args = {
      commit,
      parent,
      ...listedChanges(recorded),
      ...(commits.length > 0 && { commits }),
    };
    this.#options.writer.append(
      newEvent('agent', 'commit', {
        args,
        message: [message, ...rest, ...own].join('; '),
        ...(call !== '' && { id: call }),
      }),
    );
  }

  /** A note about the history itself: a `commit` event with the latest commit and no files. */
  async #note(message: string, commits?: OwnCommit[]): Promise<void> {
    const head = await this.#recorder.head();
    if (head === null) return;
    const args = { commit: head, parent: head, files: [], ...(commits && { commits }) };
    this.#options.writer.append(newEvent('agent', 'commit', { args, message }));
  }

  async #tidy(): Promise<void> {
    const dropped = await this.#upkeep.afterStep();
    if (dropped > 0)
      await this.#note(
        `The history was too large: its ${dropped} oldest steps can no longer be viewed`,
      );
  }
}

/** The number of commits whose changes can still be queried. */
const mostLatest = 16;

const unavailable = (): Promise<never> =>
  Promise.reject(
    new AppError(
      'unavailable',
      'There is no history: git was not found where the agent runs. Install git there.',
    ),
  );

const missing: History = {
  available: false,
  prepare: () => Promise.resolve(),
  begin: () => Promise.resolve(),
  commit: () => Promise.resolve(),
  changesOf: () => Promise.resolve(null),
  compare: () => Promise.resolve(null),
  export: unavailable,
  copies: {
    restorePart: unavailable,
    checkOut: unavailable,
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
  },
  handlers: {
    'workspace.log': unavailable,
    'workspace.diff': unavailable,
    'workspace.show': unavailable,
    'workspace.rewind': unavailable,
    'workspace.undo': unavailable,
  },
};
