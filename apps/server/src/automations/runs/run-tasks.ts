import { Injectable } from '@nestjs/common';
import {
  AppError,
  automationTag,
  newSession,
  type AutomationDefinition,
  type Occurrence,
} from '@belay/protocol';
import type { z } from 'zod';
import { SessionCreation } from '../../sessions/session-creation.js';
import { TemplatesStore } from '../../settings/templates.store.js';
import { RunMaterials } from '../trust/run-materials.js';
import { taskOf } from '../trust/task-of.js';
import type { RunRecord } from '../run-record.js';

/** As many characters as a tag has. */
const maxTag = 40;
const maxTitle = 200;

/** Makes the session that a run wants: from its definition, the owner’s template and what the git host said. */
@Injectable()
export class RunTasks {
  constructor(
    private readonly templates: TemplatesStore,
    private readonly creation: SessionCreation,
    private readonly materials: RunMaterials,
  ) {}

  /**
   * What the definition does not name is not given: no network, no MCP servers, no actions, no folders. Throws a
   * `RunRefusal` for what is not as it was, and one sentence for a template that is gone, and without a model that is ready.
   */
  async sessionOf(given: RunRecord): Promise<z.output<typeof newSession>> {
    const { material } = await this.materials.of(given);
    const definition = await this.#withTemplate(given);
    const { run } = definition;
    const { agent, budgets, approvals, egress, mcp, actions, gitIdentity } = run;
    const { repository } = material;
    const model = run.model ?? (await this.creation.readyModel());
    return newSession.parse({
      model,
      approvals,
      egress,
      mcp,
      actions,
      budgets,
      task: taskOf(
        {
          ...given,
          definition,
        },
        material,
      ),
      title: titleOf(given),
      tags: [`${automationTag}${given.automation.name}`.slice(0, maxTag)],
      check: run.check ?? null,
      trust: run.trustFiles && isOfDefaultBranch(given.occurrence),
      mounts: [],
      report: true,
      gitIdentity: gitIdentity ?? null,
      ...(run.image !== undefined && { image: run.image }),
      ...(agent && { agent }),
      ...(repository && { repository }),
    });
  }

  /** A template gives its task, model and check; its rights would be wider than those that the definition names. */
  async #withTemplate({ automation, definition }: RunRecord): Promise<AutomationDefinition> {
    const { run } = definition;
    if (run.template === undefined) return definition;
    const all = await this.templates.list({ id: automation.owner });
    const template = all.find(({ name }) => name === run.template);
    if (!template)
      throw new AppError(
        'not_found',
        `The owner of ${automation.name} has no template ${run.template}. Save it, or name another one.`,
      );
    const task = [template.task, run.task].filter((part) => part !== undefined).join('\n\n');
    const model = run.model ?? template.model ?? undefined;
    const check = run.check ?? template.check ?? undefined;
    return { ...definition, run: { ...run, task, model, check } };
  }
}

/** Only the server’s own words: what strangers wrote is in no title. */
const titleOf = ({ automation: { name }, subject }: RunRecord): string =>
  `${name} ${subject}`.slice(0, maxTitle);

/** AGENTS.md of a pull request or a pushed branch is what its author wants the agent to do. */
const isOfDefaultBranch = ({ event, branch, sha, number }: Occurrence): boolean =>
  event.startsWith('issue.') || (branch === undefined && sha === undefined && number === undefined);
