import { closeServer } from './close-server.js';

describe('a server that is told to end', () => {
  let done: string[];
  beforeEach(() => void (done = []));
  afterEach(() => void jest.useRealTimers());
  const turn = { end: async () => void done.push('others take its place') };

  it.each([
    ['closes', async () => void done.push('closed'), ['closed', 'others take its place']],
    ['fails', () => Promise.reject(new Error('It is closed.')), ['others take its place']],
  ])('lets others take its place once it %s', async (_, close, expected) => {
    await closeServer({ close }, turn);
    expect(done).toEqual(expected);
  });

  it('does so although it cannot close, before it is ended for that', async () => {
    jest.useFakeTimers();
    const { promise, resolve } = Promise.withResolvers<void>();
    const closed = closeServer({ close: () => promise }, turn);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(done).toEqual([]);
    await jest.advanceTimersByTimeAsync(1_999);
    expect(done).toEqual(['others take its place']);
    resolve();
    await closed;
  });
});
