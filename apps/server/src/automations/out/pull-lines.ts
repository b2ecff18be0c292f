import { Injectable } from '@nestjs/common';
import { EventLog } from '../../logs/event-log.js';
import { PullChanges } from '../forges/pull-changes.js';
import type { RunRecord } from '../run-record.js';
import { linesOfPatch, type ChangeLine } from './lines-of-patch.js';

/** The lines that a pull request shows. */
@Injectable()
export class PullLines {
  constructor(
    private readonly changes: PullChanges,
    private readonly log: EventLog,
  ) {}

  /** None where the change cannot be compared. Throws what may pass: the host does not answer, the disk is full. */
  async of({ session, findings }: RunRecord): Promise<(line: ChangeLine) => boolean> {
    const { sha, base } = findings;
    const url = session && (await this.log.settings(session)).repository?.url;
    if (!url || sha === null || base === null) return () => false;
    const patch = await this.changes.patchOf({ url, sha, base });
    return patch === null ? () => false : linesOfPatch(patch);
  }
}
