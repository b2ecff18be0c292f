import { AppError } from '@belay/protocol';
import { until } from '@belay/testing';
import type { ContainerHost, Seen } from './container-host.js';
import { followHost } from './follow-host.js';

const away = new AppError('unavailable', 'It is away.');

/** What a host reports to one subscription after the other; after the last one it is silent. */
function hostOf(...subscriptions: (Seen | 'synced' | AppError)[][]): ContainerHost {
  async function* watch(signal: AbortSignal): AsyncIterable<Seen | 'synced'> {
    const reports = subscriptions.shift();
    for (const report of reports ?? []) {
      if (report instanceof AppError) throw report;
      yield report;
    }
    if (reports) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }
  return { watch } as unknown as ContainerHost;
}

/** Follows until `count` things have happened; returns them. */
async function followed(host: ContainerHost, count: number, faults = 0): Promise<string[]> {
  const happened: string[] = [];
  const closing = new AbortController();
  let left = faults;
  const following = followHost(host, {
    signal: closing.signal,
    synced: async (found) => {
      happened.push(`synced ${found.map(({ id, state }) => `${id} ${state}`).join(', ')}`);
      if (left-- > 0) throw away;
    },
    changed: ({ id, state }) => happened.push(`${id} ${state}`),
    away: ({ message }) => happened.push(message),
    back: () => happened.push('back'),
  });
  await until('all has happened', () => happened.length >= count);
  closing.abort();
  await following;
  return happened;
}

const a = (state: Seen['state']): Seen => ({ id: 'a', state });

it('tells what there is, then each change, and all again after a break', async () => {
  const host = hostOf([a('running'), 'synced', a('ended'), a('gone')], ['synced']);
  expect(await followed(host, 4)).toEqual(['synced a running', 'a ended', 'a gone', 'synced ']);
});

it('tells once that the host is away, and when it is back', async () => {
  const host = hostOf([away], [a('running'), away], ['synced']);
  expect(await followed(host, 3)).toEqual(['It is away.', 'synced ', 'back']);
});

it('counts the host as away while what it has cannot be handled, and tells all again', async () => {
  const host = hostOf(['synced', a('ended')], ['synced', a('gone')]);
  expect(await followed(host, 5, 1)).toEqual([
    'synced ',
    'It is away.',
    'synced ',
    'back',
    'a gone',
  ]);
});
