import { resolve } from 'node:path';
import type { BelayClient } from '@belay/client';
import { AppError, isPlayedModel } from '@belay/protocol';
import { isInSession, sessionAgentName } from '../is-in-session.js';
import type { RunFile } from '../results/run-file.js';
import type { Agent } from './agent.js';
import { command, nop, oracle } from './baselines.js';
import { modelAgent } from './model-agent.js';
import { predictionsFrom, type Predictions } from './predictions.js';

/** The client and URL of the Belay server. Throws if no server is running. */
export type Connect = () => { client: BelayClient; url: string };

const predictionsPath = (agent: string): string | undefined =>
  /^predictions:(.+)$/s.exec(agent)?.[1];

/** A run’s predictions; undefined for other agents. */
export function predictionsOf({ agent }: RunFile): Predictions | undefined {
  const path = predictionsPath(agent);
  return path === undefined ? undefined : predictionsFrom(path);
}

/**
 * Limits a run to the tasks with predictions, and its attempts to the smallest number of
 * predictions for a task.
 */
export function withPredicted(run: RunFile, { counts }: Predictions): RunFile {
  const path = predictionsPath(run.agent) ?? '';
  const tasks = run.tasks.filter((id) => counts.has(id));
  if (tasks.length === 0)
    throw new AppError('invalid_input', `${path} has no prediction for any task in the data.`);
  const left = run.tasks.length - tasks.length;
  if (left > 0 && run.suite === 'human-eval')
    throw new AppError(
      'invalid_input',
      `${left} problems have no sample, so no score can be computed. Name the tasks that have one with --tasks.`,
    );
  const attempts = Math.min(...tasks.map((id) => counts.get(id) ?? 0));
  const unattempted = run.tasks.filter((id) => !counts.has(id));
  return { ...run, agent: `predictions:${resolve(path)}`, tasks, unattempted, attempts };
}

/**
 * Makes one short model call before the first trial, because a model that cannot be called would
 * fail every trial. Skipped for scripts and cassettes. Throws `invalid_input`.
 */
export async function checkModel({ agent, model }: RunFile, connect?: Connect): Promise<void> {
  if (!isInSession(agent) || !connect || !model || isPlayedModel(model)) return;
  const { models } = connect().client;
  const providers = await models.providers();
  const [, name] = /^([\w-]+):./.exec(model) ?? [];
  const names = providers.map((known) => known.name);
  if (!names.some((known) => known === name))
    throw new AppError(
      'invalid_input',
      `There is no model ${model}. Name one as PROVIDER:MODEL, where PROVIDER is one of ${names.join(', ')}.`,
    );
  try {
    await models.try({ model });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError('invalid_input', `${model} cannot be called: ${error.message}`);
  }
}

export function agentOf(run: RunFile, connect?: Connect): Agent {
  const [, kind, rest = ''] = /^([a-z]+)(?::(.*))?$/s.exec(run.agent) ?? [];
  if (kind === 'oracle') return oracle;
  if (kind === 'nop') return nop;
  if (kind === 'command' && rest) return command(rest);
  if (kind === 'predictions' && rest) return predictionsFrom(rest).agent;
  if (!isInSession(run.agent))
    throw new AppError(
      'invalid_input',
      `There is no agent ${run.agent}. Choose oracle, nop, model, agent:NAME, command:LINE or predictions:FILE.`,
    );
  if (!run.model) throw new AppError('invalid_input', 'Name a model with --model provider:model.');
  if (!connect)
    throw new AppError(
      'unavailable',
      `The agent \`${run.agent}\` needs a Belay server. Start one with \`npm start\`.`,
    );
  const agent = sessionAgentName(run.agent);
  const labels = run.sessionLabels;
  return modelAgent({
    ...connect(),
    model: run.model,
    labels,
    ...(agent !== undefined && { agent }),
  });
}
