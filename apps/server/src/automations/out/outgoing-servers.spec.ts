import { PostgresCluster } from '@belay/testing';
import { runFindings } from '@belay/protocol';
import { lease } from '../../storage/lease.js';
import { TestLogs } from '../../testing/logs.js';
import type { ProofBlocks } from '../../publishing/proof-blocks.js';
import { AuditLog } from '../../access/audit-log.js';
import type { Forges } from '../forges/forges.js';
import { MemoryForge } from '../forges/testing/memory-forge.js';
import { Outgoing } from './outgoing.js';
import type { OutgoingCheck } from './outgoing-check.js';
import { OutgoingPlans } from './outgoing-plans.js';
import { OutgoingStore } from './outgoing.store.js';
import type { PullLines } from './pull-lines.js';
import type { PullTexts } from './pull-texts.js';
import { runOf } from './testing/run-of.js';
import { SkippingClock } from './testing/skipping-clock.js';

describe('two servers of one database', () => {
  const clock = new SkippingClock();
  let cluster: PostgresCluster;
  let logs: TestLogs;
  let forge: MemoryForge;
  let audit: AuditLog;
  beforeAll(async () => void (cluster = await PostgresCluster.start()), 60_000);
  beforeEach(async () => {
    const fresh = async () => ({ DATABASE_URL: await cluster.database() });
    logs = await new TestLogs({ fresh }).open();
    audit = new AuditLog(logs.database);
    forge = new MemoryForge();
    for (const number of [12, 13]) forge.addIssue({ number });
  });
  afterEach(async () => {
    lease.renew(Infinity);
    await audit.beforeApplicationShutdown();
    await logs.close();
  });
  afterAll(() => cluster.stop());

  const server = (): Outgoing => {
    const forges = { open: () => forge } as unknown as Forges;
    const store = new OutgoingStore(logs.database, clock);
    const [check, lines, texts] = [{}, {}, {}] as [OutgoingCheck, PullLines, PullTexts];
    const plans = new OutgoingPlans(logs.config, check, lines, texts);
    return new Outgoing(store, forges, plans, {} as ProofBlocks, clock, audit);
  };
  const about = (number: number) =>
    runOf({
      id: `run-${number}`,
      definition: { out: { comment: {} } },
      occurrence: {
        event: 'issue.labelled',
        key: 'x',
        at: '2026-01-01T00:00:00Z',
        actor: null,
        number,
      },
      findings: runFindings.parse({}),
    });
  const bodies = (number: number) => forge.commentsOf.get(number) ?? [];

  it('send what a run says once, and those of different runs at the same time', async () => {
    const [one, other] = [server(), server()];
    for (const number of [12, 13]) await one.planBegin(about(number));
    let goOn = (): void => {};
    const begun = new Promise<void>((begins) => {
      forge.before = ({ number }) => {
        if (number !== 12) return;
        begins();
        return new Promise((resolve) => (goOn = resolve));
      };
    });
    const first = one.deliver(about(12));
    await begun;
    const nextAt = new Date(clock.now().getTime() + 10_000);
    expect(await other.deliver(about(12))).toEqual({ done: false, failed: null, nextAt });
    expect(await other.deliver(about(13))).toMatchObject({ done: true });
    goOn();
    expect(await first).toMatchObject({ done: true, failed: null });
    expect(await other.deliver(about(12))).toMatchObject({ done: true });
    expect([bodies(12), bodies(13)].map(({ length }) => length)).toEqual([1, 1]);
  });

  it('send nothing when it is not their turn any more', async () => {
    const outgoing = server();
    await outgoing.planBegin(about(12));
    lease.renew(0);
    await expect(outgoing.deliver(about(12))).rejects.toMatchObject({ code: 'unavailable' });
    expect(forge.writes).toEqual([]);
    lease.renew(Infinity);
    expect(await outgoing.deliver(about(12))).toMatchObject({ done: true });
    expect(bodies(12)).toHaveLength(1);
  });
});
