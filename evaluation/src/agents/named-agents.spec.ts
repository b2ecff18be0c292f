import type { RunFile } from '../results/run-file.js';
import { agentOf } from './agent-of-run.js';

it('gives trials to an agent that is installed on the server', () => {
  const run = (agent: string, model: string | null = 'openai-compatible:known') =>
    agentOf({ agent, model } as RunFile, () => ({ client: null as never, url: '' }));
  expect(run('agent:other').name).toBe('agent:other');
  expect(run('model').name).toBe('model');
  expect(() => run('agent:other', null)).toThrow('Name a model with --model');
  expect(() => run('agent:Not One')).toThrow('There is no agent agent:Not One.');
  expect(() => run('agent:')).toThrow('There is no agent');
});
