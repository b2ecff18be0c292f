import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  AppError,
  errorFrom,
  fact,
  type Handlers,
  type workspaceOperations,
} from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import { createTurns } from '../files/turns.js';
import type { Journal } from '../journal.js';
import { pack, repositoryBytes, shorten } from './collect.js';
import { exportCommit, type ExportFormat } from './export.js';
import { findGit, Git } from './git.js';
import { addTrackedFiles } from './own-repository.js';
import { maxFileBytes, Recorder, type Recorded } from './recorder.js';
import { prepareRepository } from './repository.js';
import { rewind } from './rewind.js';
import { Steps } from './steps.js';

type Operations = Omit<typeof workspaceOperations, 'workspace.trust'>;

export interface HistoryOptions {
  workspace: string;
  /** The history is `history.git` in this folder, outside the workspace. */
  state: string;
  journal: Journal;
  /** Path of git; found when left out, null for none. */
  git?: string | null;
  /** Bytes of the repository above which old steps are collected. */
  maxBytes?: number;
}

export interface RecordedCall {
  id: string;
  /** What the step did, for people. */
  message: string;
  /** Only what changed below these paths of the workspace; a full scan when left out. */
  paths?: readonly string[];
}

/** The workspace's states, a commit for each call that changed files. */
export interface History {
  /** False where there is no git: nothing is recorded and the handlers answer `unavailable`. */
  readonly available: boolean;
  /** Makes the repository beforehand. Never rejects: what fails here is tried again by `begin`. */
  prepare(): Promise<void>;
  /** Records the state before the first operation, after the import; after a restart, what changed meanwhile. Never rejects. */
  begin(): Promise<void>;
  /** Records what a call changed, if anything, in order. Never rejects: a history that cannot be written says so in the log. */
  commit(call: RecordedCall): Promise<void>;
  /** The latest state (recorded first) or a commit as bytes. Rejects with `AppError`. */
  export(format: ExportFormat, commit?: string): Promise<Readable>;
  readonly handlers: Handlers<Operations, CallContext>;
}

export function createHistory(options: HistoryOptions): History {
  const binary = options.git === undefined ? findGit() : options.git;
  return binary === null ? missing : new GitHistory(options, binary);
}

const defaultMaxBytes = 2_000_000_000;
/** Between looks at the repository's size. */
const stepsBetween = 200;
const bytesBetween = 100_000_000;

class GitHistory implements History {
  readonly available = true;
  private readonly git: Git;
  private readonly recorder: Recorder;
  private readonly steps: Steps;
  private readonly inTurn = createTurns();
  private repository = false;
  private begun = false;
  /** What was told of the last failure; empty when the last step was recorded. */
  private fault = '';
  private stepsSincePack = 0;
  private packing: Promise<void> = Promise.resolve();

  constructor(
    private readonly options: HistoryOptions,
    binary: string,
  ) {
    const folder = join(options.state, 'history.git');
    this.git = new Git({ binary, folder, workspace: options.workspace });
    this.recorder = new Recorder(this.git);
    this.steps = new Steps(this.git);
  }

  prepare(): Promise<void> {
    return this.inTurn(() => this.makeRepository().catch(() => undefined));
  }

  begin(): Promise<void> {
    return this.inTurn(() => this.telling(() => this.recordStart()));
  }

  commit(call: RecordedCall): Promise<void> {
    return this.inTurn(() =>
      this.telling(async () => {
        if (!this.begun) await this.recordStart();
        await this.record(call);
      }),
    );
  }

  async export(format: ExportFormat, commit?: string): Promise<Readable> {
    const id = await this.inTurn(async () => {
      if (commit !== undefined) return this.steps.find(commit);
      await this.record({ id: '', message: 'Changes up to the export' });
      return this.steps.find('refs/heads/main');
    });
    return exportCommit(this.git, format, id);
  }

  readonly handlers: Handlers<Operations, CallContext> = {
    'workspace.log': (input) => this.steps.log(input),
    'workspace.diff': (input, { signal }) => this.steps.diff(input, signal),
    'workspace.show': (input) => this.steps.show(input),
    'workspace.rewind': (input, call) =>
      this.inTurn(async () => {
        const target = await this.steps.find(input.commit);
        if (!input.preview) await this.record({ id: '', message: 'Changes up to the rewind' });
        const rewound = await rewind(this.recorder, this.git, {
          ...input,
          commit: target,
          call: call.id,
        });
        const { recorded } = rewound;
        if (recorded)
          this.tell(call.id, recorded, `Rewound the files to ${input.commit.slice(0, 7)}`);
        return { files: rewound.files, commit: rewound.commit };
      }),
  };

  private async makeRepository(): Promise<void> {
    if (this.repository) return;
    mkdirSync(this.options.state, { recursive: true });
    await prepareRepository(this.git);
    await this.recorder.prepare();
    this.repository = true;
  }

  private async recordStart(): Promise<void> {
    await this.makeRepository();
    const again = (await this.recorder.head()) !== null;
    if (!again) await addTrackedFiles(this.git, this.recorder);
    this.begun = true;
    const message = again ? 'Changes since the last step' : 'The workspace at the start';
    await this.record({ id: '', message });
  }

  /** The work goes on without its history; what is missing is recorded with the next step that can be. */
  private async telling(task: () => Promise<void>): Promise<void> {
    try {
      await task();
      this.fault = '';
    } catch (thrown) {
      const { message } = errorFrom(thrown);
      if (message !== this.fault) {
        await this.note(`The history could not be written: ${message}`).catch(() => undefined);
      }
      this.fault = message;
    }
  }

  private async record({ id, message, paths }: RecordedCall): Promise<void> {
    const recorded = await this.recorder.record({ message, call: id }, paths);
    const leftOut = this.recorder.takeLeftOut();
    if (recorded) this.tell(id, recorded, sentence(recorded), leftOut);
    else if (leftOut.length > 0)
      await this.note(`The history has no room for ${leftOutNames(leftOut)}`);
    if (recorded) await this.tidy();
  }

  private tell(call: string, recorded: Recorded, message: string, leftOut: string[] = []): void {
    const { commit, parent, changes } = recorded;
    const files = changes
      .slice(0, maxTold)
      .map(({ path, added, removed }) => ({ path, added, removed }));
    const rest = leftOut.length > 0 ? `; left out ${leftOutNames(leftOut)}` : '';
    const args = { commit, parent, files };
    this.options.journal.append(
      fact('agent', 'commit', { args, message: message + rest, ...(call !== '' && { id: call }) }),
    );
  }

  /** A fact about the history itself: a `commit` event that names the latest commit and no files. */
  private async note(message: string): Promise<void> {
    const head = await this.recorder.head();
    if (head !== null) this.tell('', { commit: head, parent: head, changes: [] }, message);
  }

  private async tidy(): Promise<void> {
    const { maxBytes = defaultMaxBytes } = this.options;
    this.stepsSincePack++;
    if (
      this.stepsSincePack < stepsBetween &&
      this.recorder.stagedBytes < Math.min(bytesBetween, maxBytes)
    )
      return;
    this.stepsSincePack = 0;
    this.recorder.stagedBytes = 0;
    await this.packing;
    if ((await repositoryBytes(this.git)) <= maxBytes) {
      this.packing = pack(this.git).catch(() => undefined); // Beside the loop; tried again next time.
      return;
    }
    const dropped = await shorten(this.git, maxBytes);
    if (dropped > 0)
      await this.note(
        `The history was too large: its ${dropped} oldest steps can no longer be viewed`,
      );
  }
}

const maxTold = 500;

function sentence({ parent, changes }: Recorded): string {
  if (parent === null) return 'Recorded the workspace at the start';
  const names = changes.slice(0, 3).map((change) => change.path);
  const more = changes.length - names.length;
  return `Recorded ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const leftOutNames = (paths: string[]): string =>
  `${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ` and ${paths.length - 5} more` : ''} (larger than ${maxFileBytes / 1_000_000} MB)`;

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
  export: unavailable,
  handlers: {
    'workspace.log': unavailable,
    'workspace.diff': unavailable,
    'workspace.show': unavailable,
    'workspace.rewind': unavailable,
  },
};
