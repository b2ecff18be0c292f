import { AppError, type ErrorCode } from '@belay/protocol';
import { queryClient } from './query-client';

afterEach(() => queryClient.clear());

/** How often a query asks whose first answers are this error. */
async function asked(code: ErrorCode, errors: number, details?: Record<string, unknown>) {
  let times = 0;
  const queryFn = () => {
    times += 1;
    if (times <= errors) return Promise.reject(new AppError(code, 'Not now.', details));
    return Promise.resolve('answer');
  };
  const answer = await queryClient
    .fetchQuery({ queryKey: ['q'], queryFn, retry: queryClient.getDefaultOptions().queries?.retry })
    .catch(() => 'none');
  return [times, answer];
}

it('waits as long as the server says after too many requests', async () => {
  expect(await asked('limit_reached', 3, { retryAfter: 0 })).toEqual([4, 'answer']);
  queryClient.clear();
  expect(await asked('limit_reached', 20, { retryAfter: 0 })).toEqual([11, 'none']);
});

it('asks once more if the server could not be reached, and not after its other errors', async () => {
  expect(await asked('limit_reached', 1)).toEqual([1, 'none']);
  queryClient.clear();
  expect(await asked('not_found', 1)).toEqual([1, 'none']);
  queryClient.clear();
  expect(await asked('unavailable', 1)).toEqual([2, 'answer']);
});
