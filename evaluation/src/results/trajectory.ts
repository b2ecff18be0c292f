import { belayVersion, isCall, isEvent, ownAgent, type Event, type Usage } from '@belay/protocol';

interface Metrics {
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  cost_usd?: number;
}

interface TrajectoryStep {
  step_id: number;
  timestamp: string;
  source: 'user' | 'agent' | 'system';
  message: string;
  /** The calls of the model that this step stands for; absent if unknown. */
  llm_call_count?: number;
  tool_calls?: { tool_call_id: string; function_name: string; arguments: unknown }[];
  metrics?: Metrics;
  observation?: { results: { source_call_id: string; content: string }[] };
}

/**
 * The log of a session as an agent trajectory (Harbor's ATIF 1.8): one step for each reply of the
 * model.
 */
export function trajectoryOf(session: string, model: string, events: Event[]) {
  const trajectory = new Trajectory();
  for (const event of events) trajectory.add(event);
  return {
    schema_version: 'ATIF-v1.8',
    session_id: session,
    agent: { ...trajectory.agent, model_name: model },
    steps: trajectory.steps,
    final_metrics: trajectory.totals(),
  };
}

/** A call of another vendor's agent, which the server saw on its way from the model. */
const isWireCall = ({ source, action }: Event): boolean => source === 'server' && isCall(action);

class Trajectory {
  readonly steps: TrajectoryStep[] = [];
  agent = { name: ownAgent, version: belayVersion };
  /** The step of each tool call, by its id. */
  readonly #calls = new Map<string, TrajectoryStep>();
  /** The usage and number of model calls whose reply is not in the log yet. */
  #used: Metrics | undefined;
  #calledModel = 0;
  #dollars = 0;

  add(event: Event): void {
    if (isEvent(event, 'start')) {
      const { agent } = event.args;
      if (agent) this.agent = { name: agent.name, version: agent.version };
      if (this.steps.length === 0) this.#addStep(event, 'user');
    } else if (event.action === 'message') this.#addStep(event, 'user');
    else if (isEvent(event, 'usage')) {
      this.#used = withUsage(this.#used, event.args);
      this.#calledModel++;
      this.#dollars += event.args.dollars ?? 0;
    } else if (isEvent(event, 'say')) {
      this.#addStep(
        event,
        'agent',
        this.#used && { llm_call_count: this.#calledModel, metrics: this.#used },
      );
      this.#used = undefined;
      this.#calledModel = 0;
    } else if (isEvent(event, 'result')) this.#addResult(event);
    else if (event.source === 'agent' || isWireCall(event)) this.#addCall(event);
  }

  #addStep(
    { time: timestamp, message }: Event,
    source: TrajectoryStep['source'],
    more?: Pick<TrajectoryStep, 'llm_call_count' | 'metrics'>,
  ): void {
    this.steps.push({ step_id: this.steps.length + 1, timestamp, source, message, ...more });
  }

  #addCall({ id, action, args }: Event): void {
    const step = this.steps.at(-1);
    if (id === undefined || step?.source !== 'agent' || this.#calls.has(id)) return;
    step.tool_calls ??= [];
    step.tool_calls.push({ tool_call_id: id, function_name: action, arguments: args });
    this.#calls.set(id, step);
  }

  #addResult({ id, args }: Event): void {
    const step = id === undefined ? undefined : this.#calls.get(id);
    if (!step || id === undefined) return;
    step.observation ??= { results: [] };
    step.observation.results.push({ source_call_id: id, content: JSON.stringify(args) });
  }

  /** Includes calls whose reply was lost. */
  totals() {
    const known = [...this.steps.map(({ metrics }) => metrics), this.#used];
    const all = known.filter((each) => each !== undefined);
    const sum = (of: (each: Metrics) => number) => all.reduce((total, each) => total + of(each), 0);
    return {
      total_prompt_tokens: sum((each) => each.prompt_tokens),
      total_completion_tokens: sum((each) => each.completion_tokens),
      total_cached_tokens: sum((each) => each.cached_tokens),
      total_cost_usd: this.#dollars,
      total_steps: this.steps.length,
    };
  }
}

function withUsage(before: Metrics | undefined, usage: Usage): Metrics {
  const dollars = (before?.cost_usd ?? 0) + (usage.dollars ?? 0);
  return {
    prompt_tokens: (before?.prompt_tokens ?? 0) + usage.inputTokens,
    completion_tokens: (before?.completion_tokens ?? 0) + usage.outputTokens,
    cached_tokens: (before?.cached_tokens ?? 0) + usage.cachedTokens,
    ...(usage.dollars !== null && { cost_usd: dollars }),
  };
}
