import { Injectable, Logger } from '@nestjs/common';
import { Outgoing } from '../out/outgoing.js';
import { RunMaterials } from '../trust/run-materials.js';
import type { RunRecord } from '../run-record.js';

/** Says at the git host that a run has begun. What cannot be said there holds no run up: its end says it again. */
@Injectable()
export class RunBeginnings {
  readonly #logger = new Logger(RunBeginnings.name);
  /** The runs of which this server has said it; an earlier one may have, which is found out before anything is sent. */
  readonly #told = new Set<string>();

  constructor(
    private readonly materials: RunMaterials,
    private readonly outgoing: Outgoing,
  ) {}

  async tell(run: RunRecord): Promise<void> {
    if (this.#told.has(run.id)) return;
    this.#told.add(run.id);
    try {
      if (!(await this.materials.actorStillMay(run))) return;
      await this.outgoing.planBegin(run);
      await this.outgoing.deliver(run);
    } catch (error) {
      this.#logger.warn(error);
    }
  }

  forget(run: string): void {
    this.#told.delete(run);
  }
}
