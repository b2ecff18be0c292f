import { Injectable } from '@nestjs/common';
import { isForgeTrigger, runFindings, type Occurrence } from '@belay/protocol';
import { Database } from '../../storage/database.js';
import { AutomationsStore } from '../definitions/automations.store.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { Forges } from '../forges/forges.js';
import { Continuations } from '../trust/continuations.js';
import { Lanes } from './lanes.js';
import { isPassing } from '../out/published-run.js';
import { isSameRepository } from './run-subject.js';

interface RepositoryPlace {
  host: string;
  repository: string;
}

/** The word of the comment that lets a lane go on. */
const word = 'again';

/**
 * Lets lanes go on, with new attempts, when a user who may write comments `/belay again` about their issue or pull
 * request, or pushes to its branch. Without that, attempts never come back.
 */
@Injectable()
export class LaneResets {
  constructor(
    private readonly database: Database,
    private readonly automations: AutomationsStore,
    private readonly forges: Forges,
    private readonly continuations: Continuations,
    private readonly lanes: Lanes,
  ) {}

  /**
   * Returns the keys of the lanes that go on. Throws while the host is not there; a host that is not set up any more
   * says nobody may write.
   */
  async after(place: RepositoryPlace, occurrence: Occurrence): Promise<string[]> {
    if (!isContinuation(occurrence)) return [];
    const held = await this.#heldAbout(place, occurrence);
    const reset: string[] = [];
    for (const { automation, key } of held) {
      if (!(await this.#isByWriter(place, occurrence, automation))) continue;
      await this.lanes.reset(automation.id, key);
      reset.push(key);
    }
    return reset;
  }

  async #isByWriter(
    { host, repository }: RepositoryPlace,
    occurrence: Occurrence,
    { definition: { trust } }: SavedAutomation,
  ): Promise<boolean> {
    try {
      const forge = this.forges.open(host, repository);
      return await this.continuations.isByWriter(occurrence, forge, trust.users);
    } catch (error) {
      if (isPassing(error)) throw error;
      return false;
    }
  }

  /** The lanes with attempts in which there was a run about this. */
  async #heldAbout(
    place: RepositoryPlace,
    { number, branch }: Occurrence,
  ): Promise<{ automation: SavedAutomation; key: string }[]> {
    const all = (await this.automations.list()).filter((each) => isOf(each, place));
    if (all.length === 0) return [];
    const subjects = [...(number === undefined ? [] : [`#${number}`]), ...(branch ? [branch] : [])];
    const rows = await this.database.kysely
      .selectFrom('automation_lane')
      .innerJoin('automation_run', (join) =>
        join
          .onRef('automation_run.automation', '=', 'automation_lane.automation')
          .onRef('automation_run.lane', '=', 'automation_lane.key'),
      )
      .select(['automation_lane.automation', 'key', 'subject', 'findings'])
      .where(
        'automation_lane.automation',
        'in',
        all.map(({ id }) => id),
      )
      .where('started', 'is not', null)
      .where(({ or, eb }) => or([eb('attempts', '>', 0), eb('stuck', 'is not', null)]))
      .where(({ or, eb }) =>
        or([
          eb('subject', 'in', subjects),
          // Finds too many for a name with wildcards in it, which are looked at below.
          ...(branch ? [eb('findings', 'like', `%${JSON.stringify(branch)}%`)] : []),
        ]),
      )
      .execute();
    const about = rows.filter(
      ({ subject, findings }) =>
        subjects.includes(subject) ||
        runFindings.parse(JSON.parse(findings)).branch === (branch ?? ''),
    );
    const found = new Map(about.map((row) => [`${row.automation} ${row.key}`, row]));
    return [...found.values()].flatMap(({ automation: id, key }) => {
      const automation = all.find((each) => each.id === id);
      return automation ? { automation, key } : [];
    });
  }
}

const isContinuation = ({ event, command, number, branch }: Occurrence): boolean =>
  event.endsWith('.command')
    ? command === word && number !== undefined
    : event === 'pull.updated' || (event === 'push' && branch !== undefined);

const isOf = ({ definition: { on } }: SavedAutomation, place: RepositoryPlace): boolean =>
  isForgeTrigger(on) && on.host === place.host && isSameRepository(on.repository, place.repository);
