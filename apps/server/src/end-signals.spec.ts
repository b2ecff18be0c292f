import { until } from '@belay/testing';
import { endBySignal } from './end-by-signal.js';
import { endSignals } from './end-signals.js';

jest.mock('./end-by-signal.js', () => ({ endBySignal: jest.fn() }));

it('ends this process by one signal, when what is to be closed by then is closed', async () => {
  const closed: string[] = [];
  const closing = Promise.withResolvers<void>();
  endSignals.closeBy(async () => void closed.push('what the start opened'));
  endSignals.closeBy(() => {
    closed.push('what it works with');
    return closing.promise;
  });
  expect(endSignals.received).toBeUndefined();
  process.emit('SIGTERM', 'SIGTERM');
  expect(endSignals.received).toBe('SIGTERM');
  expect(closed).toEqual(['what it works with']);
  expect(endBySignal).not.toHaveBeenCalled();
  closing.reject(new Error('It cannot be closed.'));
  await until('it ends', () => jest.mocked(endBySignal).mock.calls.length > 0);
  expect(endBySignal).toHaveBeenCalledWith('SIGTERM');
  process.emit('SIGINT', 'SIGINT');
  expect(endBySignal).toHaveBeenLastCalledWith('SIGINT');
  endSignals.leave();
});
