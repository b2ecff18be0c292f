import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { Forges } from '../forges/forges.js';
import type { RunRecord } from '../run-record.js';
import { OutgoingStore } from './outgoing.store.js';
import { repositoryOf } from './run-target.js';

export const pullContent = z.object({
  branch: z.string(),
  number: z.int().nullable(),
});

/** The pull requests that runs opened: of one subject, an automation has at most one that is open. */
@Injectable()
export class OpenPulls {
  constructor(
    private readonly store: OutgoingStore,
    private readonly forges: Forges,
  ) {}

  /** The branch of an earlier run’s pull request that is still open. Throws what the host answers. */
  async branchFor(run: RunRecord): Promise<string | null> {
    const repository = repositoryOf(run);
    if (!repository) return null;
    const { automation, subject } = run;
    const sent = await this.store.sentBefore({ automation: automation.id, subject }, 'pull');
    for (const { content, run: earlier } of sent) {
      const { branch, number } = pullContent.parse(JSON.parse(content));
      if (number === null || earlier === run.id) continue;
      const forge = this.forges.open(repository.host, repository.path);
      const pull = await forge.pull(number).catch(unlessGone);
      if (pull?.state === 'open' && pull.branch === branch) return branch;
    }
    return null;
  }
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
}
