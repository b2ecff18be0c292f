import { Injectable } from '@nestjs/common';
import {
  AppError,
  pluralText,
  scheduleWords,
  type AutomationDefinition,
  type DefinitionProblem,
  type DefinitionReport,
  type RunExplanation,
  type HandRun,
} from '@belay/protocol';
import { assertMayChangeAutomations } from '../access/assert-may-change-automations.js';
import type { Caller } from '../access/caller.js';
import { Clock } from './clock.js';
import { AutomationsStore } from './definitions/automations.store.js';
import { DefinitionReader } from './definitions/definition-reader.js';
import { nextTimes } from './definitions/next-times.js';
import type { SavedAutomation } from './definitions/saved-automation.js';
import { ForgeSources } from './forges/forge-sources.js';
import { AutomationRuns } from './runs/automation-runs.js';

/** A definition as text, and the name of its file for messages. */
interface GivenText {
  text: string;
  file: string;
}

/** Times of a schedule that a check shows. */
const shownTimes = 10;

/**
 * Every change of automations by users. Each asks first whether the caller may change them, whichever API it came through.
 */
@Injectable()
export class AutomationChanges {
  constructor(
    private readonly automations: AutomationsStore,
    private readonly reader: DefinitionReader,
    private readonly sources: ForgeSources,
    private readonly runs: AutomationRuns,
    private readonly clock: Clock,
  ) {}

  /** Throws `invalid_input` with the first problem, and `conflict` if the name is taken. */
  async add(given: GivenText, caller: Caller): Promise<SavedAutomation> {
    assertMayChangeAutomations(caller);
    const definition = await this.#read(given, caller);
    const { name } = definition;
    if (await this.automations.find(name))
      throw new AppError(
        'conflict',
        `There is an automation ${name} already. Change it: belay automations edit ${name}`,
      );
    return this.automations.save(definition, { by: caller });
  }

  /** Saves a new version, which keeps the name. */
  async edit(name: string, given: GivenText, caller: Caller): Promise<SavedAutomation> {
    assertMayChangeAutomations(caller);
    const { file, owner } = await this.automations.require(name);
    if (file) throw keptInRepository(name, file);
    // Its runs go on with the rights and templates of the owner, who stays.
    const definition = await this.#read(given, { ...caller, id: owner });
    if (definition.name !== name)
      throw new AppError(
        'invalid_input',
        `This is ${name}, and the definition names ${definition.name}: a name stays. Add ${definition.name}, and remove ${name}.`,
      );
    return this.automations.save(definition, { by: caller });
  }

  async remove(name: string, caller: Caller): Promise<void> {
    assertMayChangeAutomations(caller);
    const { file } = await this.automations.require(name);
    if (file) throw keptInRepository(name, file);
    await this.automations.remove(name);
  }

  async pause(name: string, caller: Caller): Promise<SavedAutomation> {
    assertMayChangeAutomations(caller);
    const { id } = await this.automations.require(name);
    await this.automations.setState(id, 'paused', `Paused by ${caller.label}.`);
    return this.automations.require(name);
  }

  async resume(name: string, caller: Caller): Promise<SavedAutomation> {
    assertMayChangeAutomations(caller);
    const { id } = await this.automations.require(name);
    await this.automations.setState(id, 'on', null);
    return this.automations.require(name);
  }

  async begin(name: string, wish: HandRun, caller: Caller): Promise<RunExplanation> {
    assertMayChangeAutomations(caller);
    return this.runs.beginByHand(await this.automations.require(name), wish, caller);
  }

  async cancel(run: string, caller: Caller): Promise<RunExplanation> {
    assertMayChangeAutomations(caller);
    return this.runs.cancel(run, caller);
  }

  async resetLane(name: string, key: string, caller: Caller): Promise<void> {
    assertMayChangeAutomations(caller);
    await this.runs.resetLane(await this.automations.require(name), key);
  }

  /** Makes a secret for the automation’s URL; returns the automation’s id with it. */
  async makeSecret(name: string, caller: Caller): Promise<{ id: string; secret: string }> {
    assertMayChangeAutomations(caller);
    const { id, definition } = await this.automations.require(name);
    if (!('url' in definition.on))
      throw new AppError(
        'invalid_input',
        `${name} has no URL. Write \`on: {url: true}\` to begin it by a request.`,
      );
    return { id, secret: await this.automations.setSecret(id) };
  }

  async connect(
    {
      host,
      repository,
      trustFiles,
    }: { host: string; repository: string; trustFiles?: boolean | undefined },
    caller: Caller,
  ): ReturnType<ForgeSources['connect']> {
    assertMayChangeAutomations(caller);
    const options = trustFiles === undefined ? {} : { trustFiles };
    return this.sources.connect(host, repository, options, caller);
  }

  async disconnect(id: string, caller: Caller): ReturnType<ForgeSources['disconnect']> {
    assertMayChangeAutomations(caller);
    return this.sources.disconnect(id);
  }

  /** Everything that is wrong with a definition, and when it would run. Changes nothing. */
  async check({ text, file }: GivenText, caller: Caller): Promise<DefinitionReport> {
    const { definition, problems, warnings } = await this.reader.read(text, file, caller);
    const on = definition?.on;
    if (!on || !('schedule' in on)) return { problems, warnings, next: [], schedule: null };
    const next = nextTimes(on.schedule, on.zone, this.clock.now(), shownTimes);
    return {
      problems,
      warnings,
      next: next.map((time) => time.toISOString()),
      schedule: scheduleWords(on.schedule, on.zone),
    };
  }

  /** The next times of an automation’s schedule. Throws `invalid_input` for one without. */
  async next(name: string, count: number): Promise<string[]> {
    const { on } = (await this.automations.require(name)).definition;
    if (!('schedule' in on))
      throw new AppError('invalid_input', `${name} has no schedule: it begins by other things.`);
    const times = nextTimes(on.schedule, on.zone, this.clock.now(), count);
    return times.map((time) => time.toISOString());
  }

  async #read({ text, file }: GivenText, owner: Caller): Promise<AutomationDefinition> {
    const { definition, problems } = await this.reader.read(text, file, owner);
    const [first] = problems;
    if (definition && !first) return definition;
    throw new AppError('invalid_input', refusalWords(file, problems), { problems });
  }
}

/** The first problem with its place, and how many others there are. */
function refusalWords(file: string, [first, ...others]: readonly DefinitionProblem[]): string {
  if (!first) return `${file} is not the definition of an automation.`;
  const place = [file, first.line, first.column].filter((part) => part !== null).join(':');
  const more =
    others.length > 0
      ? ` ${pluralText(others.length, 'more problem')}: belay automations check ${file}`
      : '';
  const path = first.path === '' ? '' : `${first.path}: `;
  return `${place} ${path}${first.message.replace(/[.!?]$/, '')}.${more}`;
}

const keptInRepository = (
  name: string,
  { host, repository, path }: NonNullable<SavedAutomation['file']>,
): AppError =>
  new AppError(
    'conflict',
    `${name} comes from ${path} in ${host}/${repository}. Change that file, pause ${name}, or disconnect the repository.`,
  );
