import { watchSilence } from './watch-silence.js';

const watched = (idles: number[]) => {
  const told: (string | null)[] = [];
  const ended = new AbortController();
  const done = watchSilence(
    {
      title: 'Fake',
      quietMs: 10,
      silentMs: 50,
      idleMs: () => {
        if (idles.length === 1) ended.abort();
        return idles.shift() ?? 0;
      },
      tell: (why) => void told.push(why),
      cancel: (why) => void told.push(`cancelled: ${why}`),
    },
    ended.signal,
  );
  return done.then(() => told);
};

it('tells of a silent program once, and when it goes on', async () => {
  expect(await watched([0, 12, 20, 3, 0])).toEqual(['Fake has been silent for 10 ms.', null]);
  expect(await watched([0, 12, 20])).toEqual(['Fake has been silent for 10 ms.', null]);
  expect(await watched([0, 3, 9])).toEqual([]);
});

it('cancels the turn of one that stays silent', async () => {
  expect(await watched([12, 50, 0])).toEqual([
    'Fake has been silent for 10 ms.',
    expect.stringMatching(/^cancelled: Fake was silent for/),
  ]);
});
