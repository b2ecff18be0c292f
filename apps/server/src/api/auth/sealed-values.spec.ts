import { z } from 'zod';
import { SealedValues } from './sealed-values.js';

const content = z.object({ to: z.string() });
const value = { to: '/sessions/ä' };

it('gives a value back, and shows nothing of it', () => {
  const values = new SealedValues(content, 60_000);
  const sealed = values.seal(value);
  expect(sealed).toMatch(/^[\w-]+$/);
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('sessions');
  expect(values.open(sealed)).toEqual(value);
  expect(values.seal(value)).not.toBe(sealed);
});

it('attacks: opens nothing that was changed, that another server sealed, or that is over', () => {
  const values = new SealedValues(content, 60_000);
  const sealed = Buffer.from(values.seal(value), 'base64url');
  for (const at of [0, 12, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(values.open(changed.toString('base64url'))).toBeUndefined();
  }
  for (const text of ['', 'x', sealed.subarray(0, -1).toString('base64url'), 'x'.repeat(9_000)])
    expect(values.open(text)).toBeUndefined();
  expect(values.open(new SealedValues(content, 60_000).seal(value))).toBeUndefined();
  const late = new SealedValues(content, 0);
  expect(late.open(late.seal(value))).toBeUndefined();
  expect(values.open(sealed.toString('base64url'))).toEqual(value);
});
