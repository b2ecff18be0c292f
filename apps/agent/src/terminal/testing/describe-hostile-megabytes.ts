import { processorMs } from '@belay/testing';
import { screenText } from '../scrollback-text.js';

/** Reads a mebibyte of each of these. */
export function describeHostileMegabytes(parts: readonly string[]): void {
  test.each(parts)('hostile megabytes take no hostile time: %j', (part) => {
    const text = `\n`.repeat(1000) + part.repeat(2 ** 20 / part.length);
    expect(processorMs(() => screenText(Buffer.from(text), 24))).toBeLessThan(20_000);
  });
}
