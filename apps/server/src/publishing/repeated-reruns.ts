import { Injectable } from '@nestjs/common';
import { AppError, changeStatement, type RerunReport } from '@belay/protocol';
import type { Caller } from '../access/caller.js';
import { Config } from '../config.js';
import { GitHosts } from '../git/git-hosts.js';
import { RepositoryFetcher } from '../git/repository-fetcher.js';
import { SmartHttp } from '../git/smart-http.js';
import type { StoredEvidence } from '../proof/evidence.js';
import { rerunsTimeoutSeconds, Reruns } from '../proof/reruns/reruns.js';

/** To fetch and to run. */
const timeoutMs = 5 * 60_000;

/** Judges the claims of a statement again from scratch, on the files that the git host has now. */
@Injectable()
export class RepeatedReruns {
  constructor(
    private readonly config: Config,
    private readonly hosts: GitHosts,
    private readonly smart: SmartHttp,
    private readonly fetcher: RepositoryFetcher,
    private readonly reruns: Reruns,
  ) {}

  /**
   * The same commands on the same trees with the same settings, in fresh sandboxes of the image of the same name. Throws
   * `conflict` for a statement without reruns, and one sentence for a commit that the git host does not serve any more.
   */
  async repeat({ session, envelope }: StoredEvidence, { scope }: Caller): Promise<RerunReport> {
    const text = Buffer.from(envelope.payload, 'base64').toString();
    const { subject, predicate } = changeStatement.parse(JSON.parse(text));
    const { change, reruns } = predicate;
    if (!reruns)
      throw new AppError(
        'conflict',
        'Nothing was run again for this statement, so nothing can be repeated. Publish with a test to run: belay publish --reproduce …',
      );
    const signal = AbortSignal.timeout(timeoutMs);
    const given = this.hosts.remote(change.repository, scope);
    const { remote, refs, capabilities } = await this.smart.refs(given, 'git-upload-pack', signal);
    const [{ digest }] = subject;
    const [base, result] = [change.base.gitCommit, digest.gitCommit];
    const tips = [...refs.values()];
    const { repository } = await this.fetcher.fetch(
      { remote, object: result, also: [base], capabilities, tips },
      { maxBytes: this.config.maxWorkspaceMb * 2 ** 20, depth: 1, signal },
    );
    const { claims, image, settings } = reruns;
    const reproduction = claims.find(({ claim }) => claim === 'reproduction');
    try {
      return await this.reruns.run(
        {
          ...settings,
          session,
          repository,
          base,
          result,
          reproduction: reproduction?.claim === 'reproduction' ? reproduction : null,
          check: claims.find(({ claim }) => claim === 'check')?.command ?? null,
          image: image.name,
          totalSeconds: rerunsTimeoutSeconds,
        },
        signal,
      );
    } finally {
      await repository.remove();
    }
  }
}
