import { isFact, type Event } from '@belay/protocol';

interface Step {
  step_id: number;
  timestamp: string;
  source: 'user' | 'agent' | 'system';
  message: string;
  tool_calls?: { tool_call_id: string; function_name: string; arguments: unknown }[];
  observation?: { results: { source_call_id: string; content: string }[] };
}

/** The log of a session as an agent trajectory (Harbor's ATIF 1.4): one step for each reply of the model. */
export function trajectoryOf(session: string, model: string, events: Event[]) {
  const steps: Step[] = [];
  const next = (event: Event, source: Step['source'], message: string): void => {
    steps.push({ step_id: steps.length + 1, timestamp: event.time, source, message });
  };
  const calls = new Map<string, Step>();
  for (const event of events) {
    if (event.action === 'start' || event.action === 'message') {
      if (steps.length === 0 || event.action === 'message') next(event, 'user', event.message);
    } else if (isFact(event, 'say')) next(event, 'agent', event.message);
    else if (isFact(event, 'result')) {
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
    agent: { name: 'belay', version: '0.1.0', model_name: model },
    steps,
  };
}
