import type { TaskEngine, TaskNeed } from '@belay/containers';
import type { Agent } from './agents/agent.js';
import type { Task } from './model.js';
import type { UsablePlace } from './trial-places.js';

export interface PlaceNeeds {
  agent: Pick<Agent, 'model'>;
  engine: TaskEngine;
  network: 'none' | 'declared';
}

const names: Record<TaskNeed, string> = { network: 'a network', services: 'services beside it' };

/** What a task needs and a place does not have; undefined for nothing. */
export function lackAt(
  { place, lacks }: Pick<UsablePlace, 'lacks' | 'place'>,
  task: Task,
  { agent, engine, network }: PlaceNeeds,
): TaskNeed | undefined {
  if (task.unsupported) return undefined;
  // Those of a session run beside its sandbox, which only this machine’s engine does.
  const hasServices =
    !lacks.includes('services') && (agent.model === null || place.host === engine);
  if (!hasServices && task.environment.services?.length) return 'services';
  return lacks.includes('network') && network === 'declared' && usesNetwork(task)
    ? 'network'
    : undefined;
}

/** The trials, with those of tasks marked as unsupported that no place can run. */
export function withPlaceRefusals<T extends { task: Task }>(
  trials: readonly T[],
  places: readonly UsablePlace[],
  needs: PlaceNeeds,
): T[] {
  return trials.map((trial) => {
    const lacks = places.map((place) => lackAt(place, trial.task, needs));
    const [first] = lacks;
    if (first === undefined || lacks.includes(undefined)) return trial;
    const where = places.map(({ place }) => place.name).join(' and ');
    const unsupported = `It needs ${names[first]}, which tasks do not get at ${where}.`;
    return { ...trial, task: { ...trial.task, unsupported } };
  });
}

const usesNetwork = ({ environment, steps }: Task): boolean =>
  environment.network === 'bridge' ||
  steps.some(
    ({ verifier: { network, environment: own } }) => (network ?? own?.network) === 'bridge',
  );
