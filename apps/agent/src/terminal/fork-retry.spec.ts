import { retryFork } from './fork-retry.js';

const limit = () => Object.assign(new Error('spawn mkfifo EAGAIN'), { code: 'EAGAIN' });

/** A start that fails so often before it succeeds. */
function failing(times: number, error: () => Error) {
  const calls = { count: 0 };
  const start = () => {
    calls.count += 1;
    return calls.count <= times ? Promise.reject(error()) : Promise.resolve();
  };
  return { calls, start };
}

test('starts once the limit of processes is no longer reached', async () => {
  const { calls, start } = failing(3, limit);
  await retryFork(start, () => false);
  expect(calls.count).toBe(4);
});

test('another error is reported at once', async () => {
  const { calls, start } = failing(1, () => new Error('no mkfifo'));
  await expect(retryFork(start, () => false)).rejects.toThrow('no mkfifo');
  expect(calls.count).toBe(1);
});

test('does not go on for a terminal that was closed', async () => {
  const { calls, start } = failing(Infinity, limit);
  await retryFork(start, () => calls.count === 2);
  expect(calls.count).toBe(2);
});
