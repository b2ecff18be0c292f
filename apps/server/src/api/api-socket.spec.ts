import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import { ownerCaller } from '../access/caller.js';
import { CallerEnds } from '../access/caller-ends.js';
import { ApiSocket } from './api-socket.js';

/** What `ApiSocket` uses of a connection; the time is the test’s. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  closed: unknown[] = [];
  close(...why: unknown[]): void {
    this.closed.push(why);
  }
  terminate(): void {}
}

describe('a socket that began without a token', () => {
  let fake: FakeSocket;
  let socket: ApiSocket;
  beforeEach(() => {
    jest.useFakeTimers();
    fake = new FakeSocket();
    const callerOf = (token: string) => (token === 'right' ? ownerCaller : undefined);
    socket = new ApiSocket(fake as unknown as WebSocket, new CallerEnds(), callerOf);
  });
  afterEach(() => jest.useRealTimers());

  it('lasts once its client has sent one', () => {
    jest.advanceTimersByTime(9_000);
    expect(socket.introduce('wrong')).toBeUndefined();
    expect(socket.introduce('right')).toBe(ownerCaller);
    jest.advanceTimersByTime(3_600_000);
    expect(fake.closed).toEqual([]);
  });

  it('is closed without one, for that reason', () => {
    jest.advanceTimersByTime(11_000);
    expect(fake.closed).toEqual([[4401, 'No token was sent in time.']]);
  });
});
