import { printLines, printed } from '../testing/ended-container.js';

const busybox = process.env.BELAY_TEST_BUSYBOX ?? '';

it('keeps the beginning of a log of many megabytes, and the end of any', async () => {
  const output = await printed(busybox, `echo begin; ${printLines(300_000)}; echo end`);
  expect(output.length).toBeGreaterThan(12_000_000);
  expect(output.startsWith('begin\n')).toBe(true);
  expect(output.endsWith('\nend\n')).toBe(true);

  const long = await printed(busybox, `echo begin; ${printLines(1_500_000)}; echo end`);
  expect(long.endsWith('\nend\n')).toBe(true);
  expect(long.length).toBeGreaterThan(16_000_000);
});
