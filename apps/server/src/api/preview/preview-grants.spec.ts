import { CallerEnds } from '../../access/caller-ends.js';
import type { Caller } from '../../access/caller.js';
import { grantMs, PreviewGrants } from './preview-grants.js';

describe('grants of previews', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());
  const target = { session: 's', port: 80 };
  const caller = { id: 'one', expires: null } as Caller;
  const wanted = { target, caller, origin: 'http://p', originOf: String, dashboard: undefined };

  it('leave nothing of a ticket that nobody used in its minute', () => {
    const grants = new PreviewGrants(new CallerEnds());
    const before = jest.getTimerCount();
    const tickets = Array.from({ length: 3_000 }, () => grants.ticket({ ...wanted, path: '/' }));
    expect(grants.redeem(tickets[0] ?? '', target)).toBeUndefined();
    const { grant, secret } = grants.redeem(tickets.at(-1) ?? '', target) ?? {};
    jest.advanceTimersByTime(60_000);
    expect(jest.getTimerCount() - before).toBe(1);
    expect(grants.find([secret ?? ''], target)).toBe(grant);
    jest.advanceTimersByTime(grantMs);
    expect(grants.find([secret ?? ''], target)).toBeUndefined();
    expect(grant?.ended.aborted).toBe(true);
    expect(jest.getTimerCount()).toBe(before);
  });
});
