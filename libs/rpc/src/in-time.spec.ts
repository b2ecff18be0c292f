import { getEventListeners, once } from 'node:events';
import { socketPair } from '@belay/testing';
import { inTime } from './in-time.js';
import { untilAborted } from './until-aborted.js';

const forever = new Promise<never>(() => {});
const fail = (): never => {
  throw new Error('late');
};

describe('inTime', () => {
  it('settles as the work does', async () => {
    await expect(inTime(Promise.resolve(1), 60_000, fail)).resolves.toBe(1);
    await expect(inTime(Promise.reject(new Error('broken')), 60_000, fail)).rejects.toThrow(
      'broken',
    );
  });

  it('settles as `late` does when the work takes longer', async () => {
    await expect(inTime(forever, 1, () => null)).resolves.toBeNull();
    await expect(inTime(forever, 1, fail)).rejects.toThrow('late');
  });
});

it('work that ended while this process was kept waiting is not late', async () => {
  const { near, far, close } = await socketPair();
  const work = once(near, 'data').then(([bytes]) => String(bytes));
  const outcome = inTime(work, 20, () => 'late');
  far.write('ended');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  expect(await outcome).toBe('ended');
  close();
});

describe('untilAborted', () => {
  it('settles as the work does, and leaves no listener', async () => {
    const { signal } = new AbortController();
    await expect(untilAborted(signal, Promise.resolve(1))).resolves.toBe(1);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('rejects with the reason of a signal that aborts, or has aborted', async () => {
    const controller = new AbortController();
    const waiting = untilAborted(controller.signal, forever);
    controller.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    await expect(untilAborted(controller.signal, forever)).rejects.toThrow('stopped');
  });
});
