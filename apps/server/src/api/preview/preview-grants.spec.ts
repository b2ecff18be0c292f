import { CallerEnds } from '../../access/caller-ends.js';
import type { Caller } from '../../access/caller.js';
import { ExpiringValues } from '../../storage/expiring-values.js';
import { TestLogs } from '../../testing/logs.js';
import type { Identity } from '../auth/identity.js';
import type { PreviewAddress } from './preview-address.js';
import { grantMs, PreviewGrants } from './preview-grants.js';

describe('grants of previews', () => {
  const logs = new TestLogs();
  let values: ExpiringValues;
  beforeAll(async () => {
    await logs.open();
    values = new ExpiringValues(logs.database, await logs.documents());
  });
  afterAll(() => logs.close());
  beforeEach(
    () => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }),
  );
  afterEach(() => void jest.useRealTimers());
  const target = { session: 's', port: 80 };
  const caller = { id: 'one', expires: null } as Caller;
  const wanted = { target, caller, from: 'http://p', dashboard: undefined };
  const addresses = { origin: () => 'http://s-80.p' } as unknown as PreviewAddress;
  /** Of a server of this database. */
  const grantsOf = (ends = new CallerEnds(), knows = true) => {
    const identity = { callerById: () => (knows ? caller : undefined) } as unknown as Identity;
    return new PreviewGrants(values, ends, identity, addresses);
  };
  const given = async (grants: PreviewGrants) =>
    (await grants.redeem(grants.ticket(wanted, '/'), target))?.secret ?? '';

  it('leave nothing of a ticket that nobody used in its minute', async () => {
    const grants = grantsOf();
    const before = jest.getTimerCount();
    const tickets = Array.from({ length: 3_000 }, () => grants.ticket(wanted, '/'));
    expect(await grants.redeem(tickets[0] ?? '', target)).toBeUndefined();
    const { grant, secret } = (await grants.redeem(tickets.at(-1) ?? '', target)) ?? {};
    jest.advanceTimersByTime(60_000);
    expect(jest.getTimerCount() - before).toBe(1);
    expect(await grants.find([secret ?? ''], target)).toBe(grant);
    jest.advanceTimersByTime(grantMs);
    expect(await grants.find([secret ?? ''], target)).toBeUndefined();
    expect(grant?.ended.aborted).toBe(true);
    expect(jest.getTimerCount()).toBe(before);
  });

  it('are valid on every server, for their origin and time, once their caller is known there', async () => {
    const secret = await given(grantsOf());
    const other = grantsOf();
    const found = await other.find(['nothing', secret], target);
    expect(found).toMatchObject({ target, caller, origin: 'http://s-80.p' });
    expect(await other.find([secret], { ...target, port: 81 })).toBeUndefined();
    expect(await grantsOf(new CallerEnds(), false).find([secret], target)).toBeUndefined();
    jest.advanceTimersByTime(grantMs);
    expect(found?.ended.aborted).toBe(true);
    expect(await grantsOf().find([secret], target)).toBeUndefined();
  });

  it.each([
    ['loses its access', (ends: CallerEnds) => ends.end('one')],
    ['has another secret', (ends: CallerEnds) => ends.endSecret('one')],
  ])('end on every server when their caller %s', async (_, end) => {
    const ends = new CallerEnds();
    const [here, there] = [grantsOf(ends), grantsOf(new CallerEnds())];
    const [one, two] = [await given(here), await given(there)];
    expect(await here.find([two], target)).toBeDefined();
    await end(ends);
    const next = () => grantsOf();
    for (const secret of [one, two]) {
      expect(await here.find([secret], target)).toBeUndefined();
      expect(await next().find([secret], target)).toBeUndefined();
    }
  });
});
