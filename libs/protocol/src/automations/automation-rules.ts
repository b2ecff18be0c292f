import { AppError } from '../errors.js';
import { branchName } from '../git.js';
import {
  isForgeTrigger,
  type AutomationDefinition,
  type AutomationTrigger,
} from './automation-definition.js';
import { eventFields, type AutomationEvent } from './automation-events.js';
import type { DefinitionFault } from './definition-fault.js';
import { parseFilter } from './filter.js';
import { assertLaneKey } from './lane-key.js';
import { isTimeZone } from './time-zone.js';

/** The events that begin runs. */
export function eventsOf(on: AutomationTrigger): AutomationEvent[] {
  if (isForgeTrigger(on)) return [on.event].flat();
  if ('schedule' in on) return ['schedule'];
  if ('url' in on) return ['url'];
  return ['session' in on ? 'session.ended' : 'hand'];
}

/** What is wrong with a definition that its schema alone accepts, one sentence each. */
export const automationFaults = (definition: AutomationDefinition): DefinitionFault[] =>
  rules.flatMap((rule) => rule(definition));

type Rule = (definition: AutomationDefinition) => DefinitionFault[];

const faultAt = (path: string, message: string): DefinitionFault => ({
  path: path.split('.'),
  message,
});

const faultIf = (isWrong: boolean, path: string, message: string): DefinitionFault[] =>
  isWrong ? [faultAt(path, message)] : [];

/** The first event for which a check throws; a field must exist in all of them. */
function refusedFor(
  { on }: AutomationDefinition,
  path: string,
  check: (event: AutomationEvent) => void,
): DefinitionFault[] {
  for (const event of eventsOf(on)) {
    try {
      check(event);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return [faultAt(path, error.message)];
    }
  }
  return [];
}

const hasTask: Rule = ({ run }) =>
  faultIf(run.task === undefined && run.template === undefined, 'run', 'name a task or a template');

const knownFields: Rule = (definition) => {
  const { on, lane, out } = definition;
  const where = 'where' in on ? on.where : undefined;
  const branch = out.pullRequest?.branch;
  return [
    ...refusedFor(definition, 'on.where', (event) => {
      if (where !== undefined) parseFilter(where, eventFields[event], event);
    }),
    ...refusedFor(definition, 'lane.key', (event) =>
      assertLaneKey(lane.key, eventFields[event], { event }),
    ),
    ...refusedFor(definition, 'out.pullRequest.branch', (event) => {
      if (branch !== undefined)
        assertLaneKey(branch, eventFields[event], { event, more: ['salt'] });
    }),
  ];
};

const branchIsOne: Rule = ({ out: { pullRequest } }) =>
  faultIf(
    pullRequest !== undefined &&
      !branchName.safeParse(pullRequest.branch.replace(/\{[^{}]*\}/g, 'x')).success,
    'out.pullRequest.branch',
    'is not a valid branch name',
  );

/** With several events, each of them is about its own. */
const labelAndCommand: Rule = ({ on }) => {
  if (!isForgeTrigger(on)) return [];
  const events = eventsOf(on);
  const needs = (given: string | undefined, path: string, ending: string): DefinitionFault[] =>
    faultIf(
      given !== undefined && !events.some((event) => event.endsWith(ending)),
      path,
      `is for events such as issue${ending}, and not for ${events.join(', ')}`,
    );
  return [
    ...needs(on.label, 'on.label', '.labelled'),
    ...needs(on.command, 'on.command', '.command'),
  ];
};

/** Strangers’ text may instruct the model, so that nothing may lead out of the sandbox but what the server checks. */
const strangersHaveNoWayOut: Rule = ({ trust, run, out }) => {
  const source =
    trust.content === 'quoted'
      ? 'trust.content: quoted'
      : trust.forks === 'review'
        ? 'trust.forks: review'
        : undefined;
  if (source === undefined) return [];
  const pushes = out.push !== undefined || out.pullRequest !== undefined;
  const ways: [way: string, isThere: boolean, remedy: string][] = [
    ['run.egress', run.egress.profile !== 'none', 'set the profile none'],
    ['run.mcp', run.mcp.length > 0, 'leave it out'],
    ['run.actions', run.actions.length > 0, 'leave it out'],
    ['run.trustFiles', run.trustFiles, 'leave it out'],
    ['run.approvals', run.approvals === 'auto' && pushes, 'use rules, or publish no branch'],
  ];
  return ways
    .filter(([, isThere]) => isThere)
    .map(([path, , remedy]) =>
      faultAt(
        path,
        `strangers’ text and a way out do not go together: ${remedy}, or change ${source}`,
      ),
    );
};

const hasPull = (event: AutomationEvent): boolean => /^(?:pull|checks)\./.test(event);
const hasIssue = (event: AutomationEvent): boolean => event.startsWith('issue.') || hasPull(event);
const hasBranch = (event: AutomationEvent): boolean => event === 'push' || hasPull(event);

const outFits: Rule = ({ on, out }) => {
  const without = (has: (event: AutomationEvent) => boolean) =>
    eventsOf(on).find((event) => !has(event));
  const needs = (
    name: keyof AutomationDefinition['out'],
    what: string,
    lacking: AutomationEvent | undefined,
  ): DefinitionFault[] =>
    faultIf(
      out[name] !== undefined && out[name] !== false && lacking !== undefined,
      `out.${name}`,
      `needs ${what}, and ${lacking} has none`,
    );
  const [pull, issue] = [without(hasPull), without(hasIssue)];
  return [
    ...needs('push', 'a branch', without(hasBranch)),
    ...needs('review', 'a pull request', pull),
    ...needs('replies', 'a pull request', pull),
    ...needs('comment', 'an issue or pull request', issue),
    ...needs('reaction', 'an issue or pull request', issue),
    ...needs('labels', 'an issue or pull request', issue),
    ...faultIf(
      out.pullRequest !== undefined &&
        !isForgeTrigger(on) &&
        !('repository' in on && on.repository),
      'out.pullRequest',
      'needs a repository: name one as on.repository',
    ),
  ];
};

const zoneIsKnown: Rule = ({ on }) =>
  faultIf(
    'schedule' in on && !isTimeZone(on.zone),
    'on.zone',
    `“${'schedule' in on ? on.zone : ''}” is not a time zone: use one such as Europe/Berlin or UTC`,
  );

const monthHasOneRun: Rule = ({ run, lane }) =>
  faultIf(
    (run.budgets.dollars ?? 0) > lane.dollarsPerMonth,
    'lane.dollarsPerMonth',
    `one run may cost $${run.budgets.dollars ?? 0}, so that none could begin: raise it, or lower run.budgets.dollars`,
  );

const rules: readonly Rule[] = [
  hasTask,
  knownFields,
  branchIsOne,
  labelAndCommand,
  strangersHaveNoWayOut,
  outFits,
  zoneIsKnown,
  monthHasOneRun,
];
