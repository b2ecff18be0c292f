import { after, engine, printLines, printed } from '../testing/ended-container.js';

const busybox = process.env.BELAY_TEST_BUSYBOX ?? '';

it('keeps a log whole', async () => {
  const output = await printed(busybox, `echo begin; ${printLines(30_000)}; echo end`);
  expect(output).toHaveLength('begin\n'.length + 30_000 * 40 + 'end\n'.length);
  expect(output.startsWith('begin\n')).toBe(true);
  expect(output.endsWith('\nend\n')).toBe(true);
});

it('lists the changes since its image, of which there may be none', async () => {
  const image = await after(busybox, 'true', (container) => engine.snapshot(container));
  const changedBy = (line: string) => after(image, line, (container) => container.changes());
  try {
    expect(await changedBy('true')).toEqual([]);
    expect(await changedBy('touch /new')).toEqual([{ path: '/new', kind: 'added' }]);
  } finally {
    await engine.forget(image);
  }
});
