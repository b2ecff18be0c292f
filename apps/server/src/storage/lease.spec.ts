import { lease } from './lease.js';

const over = { code: 'unavailable', message: expect.stringMatching(/^Another server takes/) };
afterEach(() => lease.hold());

it('is held for good by a server that works alone', () => {
  expect(lease.isHeld).toBe(true);
  expect(() => lease.assertHeld()).not.toThrow();
});

it('lets one of several servers work as long as it is renewed, before it leads', () => {
  lease.standBy();
  expect(() => lease.assertHeld()).toThrow(expect.objectContaining(over));
  lease.renew(performance.now() + 60_000);
  expect(() => lease.assertHeld()).not.toThrow();
  expect(lease.isHeld).toBe(false);
  lease.hold();
  expect(lease.isHeld).toBe(true);
  lease.renew(performance.now() - 1);
  expect(() => lease.assertHeld()).toThrow(expect.objectContaining(over));
});
