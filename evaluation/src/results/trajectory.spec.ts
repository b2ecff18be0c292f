import type { Event } from '@belay/protocol';
import { trajectoryOf } from './trajectory.js';

const event = (action: string, more: Partial<Event> = {}): Event => ({
  seq: 1,
  time: '2026-01-01T00:00:00Z',
  source: 'agent',
  action,
  args: {},
  message: action,
  ...more,
});

it('a log becomes steps with calls and their results', () => {
  const log = [
    event('start', { source: 'user', message: 'Do it' }),
    event('state', { source: 'server' }),
    event('usage', {
      source: 'server',
      args: { inputTokens: 30, cachedTokens: 10, outputTokens: 5, dollars: 0.25 },
    }),
    event('say', { message: 'I look.' }),
    event('files.read', { id: 'c1', args: { path: 'a' } }),
    event('result', { id: 'c1', args: { output: 'text' } }),
    event('message', { source: 'user', message: 'And now?' }),
    event('say', { message: 'Done.' }),
  ];
  const { steps, final_metrics: totals, ...rest } = trajectoryOf('s', 'own:model', log);
  expect(rest).toMatchObject({ schema_version: 'ATIF-v1.8', agent: { model_name: 'own:model' } });
  expect(steps.map(({ step_id, source, message }) => [step_id, source, message])).toEqual([
    [1, 'user', 'Do it'],
    [2, 'agent', 'I look.'],
    [3, 'user', 'And now?'],
    [4, 'agent', 'Done.'],
  ]);
  expect(steps[1]).toMatchObject({
    llm_call_count: 1,
    metrics: { prompt_tokens: 30, completion_tokens: 5, cached_tokens: 10, cost_usd: 0.25 },
    tool_calls: [{ tool_call_id: 'c1', function_name: 'files.read', arguments: { path: 'a' } }],
    observation: { results: [{ source_call_id: 'c1', content: '{"output":"text"}' }] },
  });
  // Unknown is not the same as no call.
  expect(steps[3]).not.toHaveProperty('llm_call_count');
  expect(totals).toEqual({
    total_prompt_tokens: 30,
    total_completion_tokens: 5,
    total_cached_tokens: 10,
    total_cost_usd: 0.25,
    total_steps: 4,
  });
});

it('names another agent, whose calls the server wrote', () => {
  const agent = { name: 'other', version: '1.2.0', protocol: 'acp' };
  const log = [
    event('start', { source: 'user', args: { agent }, message: 'Do it' }),
    event('say', { message: 'I look.' }),
    event('files.read', { source: 'server', id: 'c1', args: { path: 'a' } }),
    event('state', { source: 'server', id: 'c2' }),
    event('result', { id: 'c1', args: { output: 'text' } }),
  ];
  const { agent: named, steps } = trajectoryOf('s', 'own:model', log);
  expect(named).toEqual({ name: 'other', version: '1.2.0', model_name: 'own:model' });
  expect(steps[1]?.tool_calls?.map(({ tool_call_id: id }) => id)).toEqual(['c1']);
});
