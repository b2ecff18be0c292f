import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { PrivateRepository } from '@belay/host';
import {
  AppError,
  evidenceTrailer,
  mostInStatement,
  sessionTrailer,
  type GitIdentity,
  type PlannedPush,
  type Reproduction,
  type RerunReport,
  type RerunSettings,
  type SignedEnvelope,
  type StatedAutomation,
} from '@belay/protocol';
import { isCiFile } from '../git/is-ci-file.js';
import { Evidence, type ProvenChange } from '../proof/evidence.js';
import { Reruns, rerunsTimeoutSeconds } from '../proof/reruns/reruns.js';
import { CommitBuilder } from './commit-builder.js';
import { withTrailers } from './with-trailers.js';
import type { PreparedPush } from './publish-preparation.js';
import { Traces } from './traces/traces.js';

const maxListBytes = 16 * 2 ** 20;
const usualTerms: RerunTerms = { totalSeconds: rerunsTimeoutSeconds };

/** How tests are run again before a push. */
export interface RerunTerms extends RerunSettings {
  /** The time for all of them together. */
  totalSeconds: number;
}

interface WantedCommit {
  /** The commit that the session began from. */
  start: string;
  message: string;
  author: GitIdentity | null;
  date: string;
  /** The commit that the same change was made into before, if it was not pushed. */
  planned: PlannedPush | undefined;
  /** The test to run again before. */
  reproduction: Reproduction | null;
  /** How tests are run again, even without a reproduction; only with one, and as usual, when undefined. */
  terms: RerunTerms | undefined;
  /** The run that publishes it; undefined for other publishers. */
  automation: StatedAutomation | undefined;
  signal: AbortSignal;
}

/** Makes the commits of pushes. Each names the record about it, and a signed statement with the record names it. */
@Injectable()
export class ProvenCommits {
  constructor(
    private readonly evidence: Evidence,
    private readonly reruns: Reruns,
    private readonly traces: Traces,
  ) {}

  async make(
    session: string,
    prepared: PreparedPush,
    {
      start,
      message,
      author,
      date,
      planned,
      reproduction,
      terms,
      automation,
      signal,
    }: WantedCommit,
  ): Promise<string> {
    const { shown, repository, tree } = prepared;
    const { url, branch, parent, files } = shown;
    const change: ProvenChange = {
      repository: url,
      branch,
      base: { gitCommit: start },
      parent: { gitCommit: parent },
      tree: { gitTree: tree },
      changes: { sha256: await changesOf(repository, { from: parent, to: tree, signal }) },
      files: files.length,
      ciFiles: files
        .map(({ path }) => path)
        .filter(isCiFile)
        .slice(0, mostInStatement),
    };
    const rerun = { session, repository, base: start, result: tree, reproduction };
    const wanted = reproduction || terms ? { ...usualTerms, ...terms, ...rerun } : null;
    const record = await this.evidence.record(session, change, {
      earlier: planned?.commit,
      automation,
      reruns: async () => wanted && this.reruns.run(wanted, signal),
      trace: () => this.traces.make(session, prepared, { start, signal }),
    });
    const trailers = { [sessionTrailer]: session, [evidenceTrailer]: `sha256:${record.id}` };
    const commit = await new CommitBuilder(repository, signal).commit({
      tree,
      parent,
      message: await withTrailers(repository, { message, trailers, signal }),
      author,
      date,
    });
    await this.evidence.sign(record, commit);
    return commit;
  }

  /** What was found by running tests again before a commit of the session; null for nothing. */
  async rerunsOf(session: string, commit: string): Promise<RerunReport | null> {
    return (await this.evidence.recordOf(session, commit))?.record.reruns ?? null;
  }

  /** The statement about a commit of the session; undefined for one of an earlier version. */
  statementOf(session: string, commit: string): Promise<SignedEnvelope | undefined> {
    return this.evidence.ofCommit(commit, session);
  }
}

/** The digest of a change as git lists it, which is the same for every version of git. */
async function changesOf(
  repository: PrivateRepository,
  { from, to, signal }: { from: string; to: string; signal: AbortSignal },
): Promise<string> {
  const list = ['diff-tree', '-r', '-z', '--no-abbrev', '--no-renames', from, to];
  const { code, output } = await repository.run(list, { maxBytes: maxListBytes, signal });
  if (code !== 0) throw new AppError('internal', 'Git could not list the change.');
  return createHash('sha256').update(output).digest('hex');
}
