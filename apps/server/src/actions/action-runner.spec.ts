import { AppError } from '@belay/protocol';
import { lease } from '../storage/lease.js';
import { ActionRunner, type ActionCall } from './action-runner.js';

afterEach(() => lease.hold());

it.each([
  [1, 'the server that leads', true],
  [0, 'another one', false],
])(
  'removes images %i times after a call of an action that was removed, by %s',
  async (times, _, leads) => {
    if (!leads) lease.standBy();
    const removeUnneeded = jest.fn();
    const unused = null as never;
    const program = { permissions: { timeout_seconds: 1, memory_mb: 1 } };
    const runner = new ActionRunner(
      { has: () => false, programOf: () => program, secretsOf: () => ({}) } as never,
      { start: () => Promise.reject(new AppError('unavailable', 'No engine.')) } as never,
      unused,
      unused,
      unused,
      { removeUnneeded } as never,
    );
    const call: ActionCall = {
      action: {
        name: 'sum',
        image: 'sum:1',
        inputSchema: { type: 'object' },
        kind: 'program' as never,
      },
      input: {},
      session: null,
      signal: new AbortController().signal,
    };
    await expect(runner.run(call)).rejects.toMatchObject({ code: 'unavailable' });
    expect(removeUnneeded).toHaveBeenCalledTimes(times);
  },
);
