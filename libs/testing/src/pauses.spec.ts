import { pause, staysTrue } from './pauses.js';

it('checks a condition until the time is over', async () => {
  let checks = 0;
  const from = performance.now();
  await staysTrue('anything', 50, () => ++checks > 0);
  expect(performance.now() - from).toBeGreaterThanOrEqual(49);
  expect(checks).toBeGreaterThan(1);
});

it('checks it after the time, too, when this process is kept waiting', async () => {
  const checks: number[] = [];
  const from = performance.now();
  await staysTrue('anything', 50, () => {
    const isFirst = checks.push(performance.now() - from) === 1;
    if (isFirst) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
    return true;
  });
  expect(checks.at(-1)).toBeGreaterThanOrEqual(50);
});

it('rejects as soon as the condition does not hold', async () => {
  let checks = 0;
  const stays = staysTrue('fewer than three checks', 10_000, () => ++checks < 3);
  await expect(stays).rejects.toThrow('No longer true: fewer than three checks');
});

it('pauses only with a reason', async () => {
  await pause(1, 'to be tested');
  await expect(pause(1, '')).rejects.toThrow('Say why');
});
