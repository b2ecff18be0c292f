import { Injectable } from '@nestjs/common';
import {
  AppError,
  checkedDefinition,
  isForgeTrigger,
  type AutomationDefinition,
  type DefinitionFault,
  type DefinitionProblem,
} from '@belay/protocol';
import { ownerCaller, type Caller } from '../../access/caller.js';
import { Clock } from '../clock.js';
import { parseSchedule, shortestGap } from './cron-fields.js';
import { DefinitionChecks } from './definition-checks.js';
import { DefinitionText } from './definition-text.js';
import { nextTimes } from './next-times.js';

/** Minutes between two times of a schedule. */
const leastMinutes = 5;

export interface ReadDefinition {
  /** Only without problems. */
  definition?: AutomationDefinition;
  problems: DefinitionProblem[];
  warnings: string[];
}

/** Reads definitions as people write them, and says everything that is wrong with one, with its place. */
@Injectable()
export class DefinitionReader {
  constructor(
    private readonly checks: DefinitionChecks,
    private readonly clock: Clock,
  ) {}

  /**
   * Never throws for what a text says. `owner` is the caller whose templates and rights its runs would have. The file’s
   * name is for those who show the problems.
   */
  async read(text: string, _file: string, owner: Caller = ownerCaller): Promise<ReadDefinition> {
    const source = new DefinitionText(text);
    if (source.problems.length > 0) return { problems: [...source.problems], warnings: [] };
    const { definition, faults } = checkedDefinition(source.value);
    const found = definition
      ? [...this.#scheduleFaults(definition), ...(await this.checks.faultsOf(definition, owner))]
      : faults;
    const problems = found.map((fault) => source.problemOf(fault));
    if (!definition || problems.length > 0) return { problems, warnings: [] };
    return { definition, problems, warnings: await this.#warningsOf(definition, owner) };
  }

  #scheduleFaults({ on }: AutomationDefinition): DefinitionFault[] {
    if (!('schedule' in on)) return [];
    const path = ['on', 'schedule'];
    try {
      const gap = shortestGap(parseSchedule(on.schedule));
      if (gap < leastMinutes)
        return [
          {
            path,
            message: `it comes every ${gap} minutes: leave at least ${leastMinutes} between two times`,
          },
        ];
      if (nextTimes(on.schedule, on.zone, this.clock.now(), 1).length === 0)
        return [{ path, message: 'it never comes: there is no such day' }];
      return [];
    } catch (error) {
      if (error instanceof AppError) return [{ path, message: error.message }];
      throw error;
    }
  }

  async #warningsOf(definition: AutomationDefinition, owner: Caller): Promise<string[]> {
    const { on, run, out, trust } = definition;
    const changes = out.pullRequest !== undefined || out.push !== undefined;
    const isOfChecks =
      isForgeTrigger(on) && [on.event].flat().some((event) => event.startsWith('checks.'));
    const warnings: [isThere: boolean, text: string][] = [
      [
        !(await this.checks.namesModel(definition, owner)),
        'run.model is not named: the first model that is ready is used.',
      ],
      [
        isForgeTrigger(on) && Object.keys(out).length === 0,
        'out is empty: nothing is sent to the git host.',
      ],
      [
        changes && run.check === undefined,
        'run.check is not named: nothing but the agent says that a change works.',
      ],
      [
        trust.self && !isOfChecks,
        'trust.self has no effect: it is about checks.failed and checks.passed.',
      ],
      [run.approvals === 'ask', `run.approvals is ask: a run waits up to ${run.waits} for a user.`],
    ];
    return warnings.filter(([isThere]) => isThere).map(([, text]) => text);
  }
}
