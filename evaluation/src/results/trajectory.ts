import { belayVersion, isEvent, type Event, type Usage } from '@belay/protocol';

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
  tool_calls?: { tool_call_id: string; function_name: string; arguments: unknown }[];
  metrics?: Metrics;
  observation?: { results: { source_call_id: string; content: string }[] };
}

/** The log of a session as an agent trajectory (Harbor's ATIF 1.4): one step for each reply of the model. */
export function trajectoryOf(session: string, model: string, events: Event[]) {
  const steps: TrajectoryStep[] = [];
  const next = (event: Event, source: TrajectoryStep['source'], message: string): void => {
    steps.push({ step_id: steps.length + 1, timestamp: event.time, source, message });
  };
  const calls = new Map<string, TrajectoryStep>();
  /** What calls of the model used that have no reply in the log yet. */
  let used: Metrics | undefined;
  let dollars = 0;
  for (const event of events) {
    if (event.action === 'start' || event.action === 'message') {
      if (steps.length === 0 || event.action === 'message') next(event, 'user', event.message);
    } else if (isEvent(event, 'usage')) {
      used = withUsage(used, event.args);
      dollars += event.args.dollars ?? 0;
    } else if (isEvent(event, 'say')) {
      next(event, 'agent', event.message);
      Object.assign(steps.at(-1) ?? {}, used && { metrics: used });
      used = undefined;
    } else if (isEvent(event, 'result')) {
      const step = event.id === undefined ? undefined : calls.get(event.id);
      if (!step || event.id === undefined) continue;
      step.observation ??= { results: [] };
      const content = JSON.stringify(event.args);
      step.observation.results.push({ source_call_id: event.id, content });
    } else if (event.id !== undefined && event.source === 'agent') {
      const step = steps.at(-1);
      if (step?.source !== 'agent' || calls.has(event.id)) continue;
      step.tool_calls ??= [];
      step.tool_calls.push({
        tool_call_id: event.id,
        function_name: event.action,
        arguments: event.args,
      });
      calls.set(event.id, step);
    }
  }
  return {
    schema_version: 'ATIF-v1.4',
    session_id: session,
    agent: { name: 'belay', version: belayVersion, model_name: model },
    steps,
    final_metrics: totalsOf(steps, used, dollars),
  };
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

/** Calls whose reply was lost count too. */
function totalsOf(steps: TrajectoryStep[], lost: Metrics | undefined, dollars: number) {
  const all = [...steps.map(({ metrics }) => metrics), lost].filter((each) => each !== undefined);
  const sum = (of: (each: Metrics) => number) => all.reduce((total, each) => total + of(each), 0);
  return {
    total_prompt_tokens: sum((each) => each.prompt_tokens),
    total_completion_tokens: sum((each) => each.completion_tokens),
    total_cached_tokens: sum((each) => each.cached_tokens),
    total_cost_usd: dollars,
    total_steps: steps.length,
  };
}
