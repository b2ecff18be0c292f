import { Injectable } from '@nestjs/common';
import { AppError, type Occurrence } from '@belay/protocol';
import type { Forge, ForgeIssue, ForgePull } from '../forges/forge.js';
import type { RunMaterial, RunRecord } from '../run-record.js';
import { isOfChecks } from './actors.js';
import { BranchTips } from './branch-tips.js';
import type { DecisionList } from './decision-list.js';
import { OwnOrigin } from './own-origin.js';

/** What a run is about at its host, and what it clones. */
export interface RunPlace {
  issue: ForgeIssue | null;
  pull: ForgePull | null;
  branch: string | null;
  sha: string | null;
  base: string | null;
  isFork: boolean;
  repository: RunMaterial['repository'];
}

/** Finds the commit that a run is about, and whether it is the repository’s own. */
@Injectable()
export class RunPlaces {
  constructor(
    private readonly own: OwnOrigin,
    private readonly tips: BranchTips,
  ) {}

  /** Throws `RunRefusal` for a fork, a branch that was moved, and what is gone. */
  async of(run: RunRecord, forge: Forge, decisions: DecisionList): Promise<RunPlace> {
    const { event, number } = run.occurrence;
    const url = this.tips.urlOf(forge.host, forge.path);
    const target = { forge, url, decisions };
    if (event === 'push' || isOfChecks(event)) return this.#commit(run, target);
    if (number === undefined) {
      const { tag } = run.occurrence;
      return { ...nowhere, repository: { url, ...(tag !== undefined && { branch: tag }) } };
    }
    const isPull = event.startsWith('pull.');
    const issue = isPull ? null : await existing(() => forge.issue(number), run, decisions);
    if (issue && !issue.isPull) return { ...nowhere, issue, repository: { url } };
    const pull = await existing(() => forge.pull(number), run, decisions);
    return this.#pull(run, pull, target);
  }

  async #pull(run: RunRecord, pull: ForgePull, target: Target): Promise<RunPlace> {
    const { forge, url, decisions } = target;
    const { occurrence, definition } = run;
    if (pull.state !== 'open')
      throw decisions.refusal('skipped', 'closed', `#${pull.number} is not open any more.`);
    const isFork = await this.#isFork(pull, forge);
    const { branch, base, sha, baseSha } = pull;
    const place = { issue: null, pull, branch, sha, base, isFork };
    if (isFork) {
      if (definition.trust.forks === 'refuse')
        throw decisions.refusal('refused', 'fork', `#${pull.number} comes from a fork.`);
      assertUnmoved(occurrence, pull, decisions);
      decisions.holds('fork', 'The change of the fork is only read, on top of the base.');
      const at = baseSha === null ? {} : { commit: baseSha };
      return { ...place, repository: { url, branch: base, ...at } };
    }
    decisions.holds('fork', 'The branch is one of the repository itself.');
    assertUnmoved(occurrence, pull, decisions);
    return { ...place, repository: { url, branch, commit: sha } };
  }

  /** A commit’s id says nothing about its origin: hosts serve commits of forks by the address of their parent. */
  async #commit({ occurrence }: RunRecord, target: Target): Promise<RunPlace> {
    const { forge, url, decisions } = target;
    const { sha, branch: named } = occurrence;
    if (sha === undefined)
      throw decisions.refusal('refused', 'permission', 'The event names no commit.');
    const { pull, branch } = await this.#branchAt(occurrence, sha, target);
    if (branch === undefined)
      throw decisions.refusal('refused', 'fork', `${shortOf(sha)} is on a fork’s branch.`);
    const tip = pull ? pull.sha : await this.tips.tipOf(url, branch);
    if (tip === undefined)
      throw decisions.refusal('refused', 'fork', `${forge.path} has no such branch.`);
    if (tip !== sha)
      throw decisions.refusal('skipped', 'moved', `The branch is at ${shortOf(tip)} by now.`);
    decisions.holds('fork', 'The branch is one of the repository itself.');
    decisions.holds('moved', `It is at ${shortOf(sha)}.`);
    const base = pull?.base ?? null;
    const place = { issue: null, pull: pull ?? null, branch, sha, base, isFork: false };
    return { ...place, repository: { url, branch: named ?? branch, commit: sha } };
  }

  async #branchAt(
    { branch, number }: Occurrence,
    sha: string,
    { forge }: Target,
  ): Promise<{ pull?: ForgePull; branch?: string }> {
    const pulls = await forge.pullsAt(sha);
    const origins = await Promise.all(pulls.map((pull) => this.#isFork(pull, forge)));
    const own = pulls.filter((_, at) => origins[at] === false);
    const pull =
      own.find((one) => one.number === number) ?? own.find((one) => one.branch === branch);
    if (pull && (branch === undefined || pull.branch === branch))
      return { pull, branch: pull.branch };
    if (branch === undefined && own[0]) return { pull: own[0], branch: own[0].branch };
    // The branch of a fork may have the same name as one of the repository; git says which commit that one is at.
    return pulls.length > 0 && own.length === 0 ? {} : { branch };
  }

  async #isFork({ headRepositoryId }: ForgePull, forge: Forge): Promise<boolean> {
    const { repository } = await this.own.of(forge);
    return headRepositoryId === null || headRepositoryId !== repository;
  }
}

interface Target {
  forge: Forge;
  url: string;
  decisions: DecisionList;
}

const nowhere = {
  issue: null,
  pull: null,
  branch: null,
  sha: null,
  base: null,
  isFork: false,
  repository: null,
} satisfies RunPlace;

const shortOf = (sha: string): string => sha.slice(0, 8);

function assertUnmoved({ sha }: Occurrence, pull: ForgePull, decisions: DecisionList): void {
  if (sha !== undefined && sha !== pull.sha)
    throw decisions.refusal('skipped', 'moved', `The branch is at ${shortOf(pull.sha)} by now.`);
  decisions.holds('moved', `It is at ${shortOf(pull.sha)}.`);
}

/** What was deleted meanwhile ends the run; what cannot be read now may be tried again. */
export async function existing<T>(
  read: () => Promise<T>,
  { subject }: RunRecord,
  decisions: DecisionList,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    throw decisions.refusal('skipped', 'gone', `${subject} is not there any more.`);
  }
}
