import { Injectable } from '@nestjs/common';
import { AppError, oneLine, type publishRequest, type RunReport } from '@belay/protocol';
import type { z } from 'zod';
import { MessageDrafts } from '../../publishing/message-drafts.js';
import { RunRefusal, type RunRecord } from '../run-record.js';
import { branchOfRun } from './branch-of-run.js';
import { neutralLineOfText } from './neutral-text.js';
import { OpenPulls } from './open-pulls.js';
import { pullRequestText } from './outgoing-texts.js';
import { usualLimits, type PublishLimits } from './publish-limits.js';

type Request = z.output<typeof publishRequest>;

/** Where the changes of a run go, and in which words. */
export interface PushPlan {
  request: Omit<Request, 'id'>;
  limits: PublishLimits;
  /** The commit that the branch must be at; null for a branch of the automation’s own. */
  tip: string | null;
  /** Whether the branch is that of a pull request of an earlier run. */
  isOpen: boolean;
}

const longestTitle = 200;
const longestSubject = 72;

/** Decides where the changes of a run go. */
@Injectable()
export class PushPlans {
  constructor(
    private readonly pulls: OpenPulls,
    private readonly drafts: MessageDrafts,
  ) {}

  /** Null if the automation publishes no changes. Throws a `RunRefusal` for a branch that it may not push to. */
  async of(run: RunRecord, session: string, report: RunReport | null): Promise<PushPlan | null> {
    const { pullRequest, push } = run.definition.out;
    if (!pullRequest && !push) return null;
    const title = neutralLineOfText(await this.#title(session, report), longestTitle);
    const wanted = run.definition.proof.reproduction === 'none' ? null : report?.reproduction;
    const usual = {
      allow: [],
      message: neutralLineOfText(title, longestSubject) || 'Changes by an agent',
      reproduction: wanted ?? null,
      pullRequest: null,
    } satisfies Partial<Request>;
    if (push && (run.findings.branch !== null || !pullRequest)) {
      const { branch, tip } = sameBranch(run, push.only);
      const limits = pullRequest ?? usualLimits;
      return { request: { ...usual, branch, base: branch }, limits, tip, isOpen: false };
    }
    if (!pullRequest) return null;
    const open = await this.pulls.branchFor(run);
    const request: Omit<Request, 'id'> = {
      ...usual,
      allow: pullRequest.ciFiles === 'allow' ? ['ci-files'] : [],
      branch: open ?? branchOfRun(run),
      pullRequest: {
        title: title || usual.message,
        body: pullRequestText(run, report),
        draft: pullRequest.draft,
      },
    };
    return { request, limits: pullRequest, tip: null, isOpen: open !== null };
  }

  async #title(session: string, report: RunReport | null): Promise<string> {
    if (report?.title) return report.title;
    return oneLine((await this.drafts.draft(session)).message.split('\n', 1)[0] ?? '');
  }
}

/** The branch of the pull request that the run is about, which must not have moved since. */
function sameBranch({ findings }: RunRecord, only: string): { branch: string; tip: string } {
  const { branch, sha, isFork } = findings;
  if (branch === null || sha === null)
    throw new AppError('invalid_input', 'What began this run has no branch, so nothing is pushed.');
  if (isFork)
    throw new RunRefusal('skipped', 'fork', 'The branch is of a fork: nothing is pushed to it.');
  if (!branch.startsWith(only))
    throw new RunRefusal(
      'skipped',
      'branch',
      `The branch ${branch} is not pushed to, as out.push.only is “${only}”.`,
    );
  return { branch, tip: sha };
}
