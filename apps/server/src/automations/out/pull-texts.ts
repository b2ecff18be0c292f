import { Injectable } from '@nestjs/common';
import { ProofBlocks } from '../../publishing/proof-blocks.js';
import { Forges } from '../forges/forges.js';
import type { RunRecord } from '../run-record.js';
import { pullContent } from './open-pulls.js';
import { OutgoingStore, type PlannedItem } from './outgoing.store.js';
import { pushRowOf } from './push-rows.js';
import { forgeSubjectOf, repositoryOf, targetOf } from './run-target.js';

/** Plans that pull requests which were there already tell of what runs pushed to them. */
@Injectable()
export class PullTexts {
  constructor(
    private readonly store: OutgoingStore,
    private readonly forges: Forges,
    private readonly proofs: ProofBlocks,
  ) {}

  /**
   * With what will be said, as that is to be checked for secrets. Null for a run that pushed nothing, or whose pull request
   * was opened with that. Throws what the host answers.
   */
  async of(run: RunRecord): Promise<{ item: PlannedItem; proof: string } | null> {
    const { commit = null, pullRequest = null } = run.result ?? {};
    const proof = commit === null ? undefined : await this.proofs.of(commit);
    if (commit === null || proof === undefined) return null;
    const pull = await (pullRequest
      ? this.#updated(run, pullRequest.number)
      : this.#pushedTo(run, commit));
    if (!pull) return null;
    const { number, title } = pull;
    const target = targetOf({ number, isPull: true });
    return { item: { kind: 'pull-text', target, n: 0, content: { commit, title } }, proof };
  }

  /** A pull request of an earlier run about the same, with the titles that such runs gave it. */
  async #updated(
    { id, automation, subject }: RunRecord,
    number: number,
  ): Promise<PushedPull | null> {
    const sent = await this.store.sentBefore({ automation: automation.id, subject }, 'pull');
    const earlier = sent.filter(
      ({ run, content }) => run !== id && pullContent.parse(JSON.parse(content)).number === number,
    );
    if (earlier.length === 0) return null;
    const titles = await Promise.all(earlier.map(({ run }) => this.#titleOf(run)));
    const given = titles.filter((title) => title !== undefined);
    const wanted = await this.#titleOf(id);
    return { number, title: wanted === undefined ? null : { given, wanted } };
  }

  async #titleOf(run: string): Promise<string | undefined> {
    return (await pushRowOf(this.store, run))?.request?.pullRequest?.title;
  }

  /** The pull request whose branch was pushed to; events of checks do not always name one. */
  async #pushedTo(run: RunRecord, commit: string): Promise<PushedPull | null> {
    const { base, branch } = run.findings;
    if (base === null) return null;
    const subject = forgeSubjectOf(run);
    if (subject) return { number: subject.number, title: null };
    const repository = repositoryOf(run);
    if (!repository) return null;
    const pulls = await this.forges.open(repository.host, repository.path).pullsAt(commit);
    const pull = pulls.find((one) => one.branch === branch);
    return pull ? { number: pull.number, title: null } : null;
  }
}

interface PushedPull {
  number: number;
  /** Null if it is not to be changed. */
  title: { given: string[]; wanted: string } | null;
}
