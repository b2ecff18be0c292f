import type { Occurrence } from '@belay/protocol';
import { AppError } from '@belay/protocol';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { Forges } from '../forges/forges.js';
import { MemoryForge } from '../forges/testing/memory-forge.js';
import {
  FollowedRepository,
  letEveryoneBegin,
  occurrenceOf,
} from '../testing/followed-repository.js';
import { RunBench } from '../testing/run-bench.js';
import type { LaneState } from './lanes.js';

const bench = new RunBench();
const forge = new MemoryForge('git.test', 'acme/api');
const branch = 'belay/12-k3';
const nothingListed = Promise.resolve({ body: [], pollAfterMs: null });
const on = { host: 'git.test', repository: 'Acme/api', event: 'checks.failed' } as const;
const users = {
  ada: { id: '5', name: 'ada', isBot: false },
  reader: { id: '6', name: 'eve', isBot: false },
  bot: { id: '7', name: 'renovate', isBot: true },
  server: { id: '1', name: 'belay', isBot: false },
};
let repository: FollowedRepository;
let automation: SavedAutomation;
let keys = 0;

beforeAll(async () => {
  bench.belay.replace(Forges, {
    open: () => Object.assign(forge, { get: () => nothingListed }) as never,
  });
  await bench.start();
  letEveryoneBegin(bench, { branch });
  for (const id of ['5', '7', '1']) forge.levels.set(id, 'write');
  forge.levels.set('6', 'triage');
  repository = await FollowedRepository.of(bench, 'acme/api');
});
afterAll(() => bench.close());

const happens = (event: Occurrence['event'], more: Partial<Occurrence> = {}) =>
  repository.delivers(occurrenceOf(event, { key: `${++keys}`, number: 13, ...more }));
const asks = (more: Partial<Occurrence> = {}) =>
  happens('pull.command', { command: 'again', actor: users.ada, ...more });
const pushes = (more: Partial<Occurrence> = {}) =>
  happens('pull.updated', { actor: users.ada, branch, sha: 'e'.repeat(40), ...more });
const lane = async (): Promise<LaneState | undefined> =>
  (await bench.engine.lanesOf(automation))[0];

describe('a lane that needs a user', () => {
  beforeEach(async () => {
    automation = await bench.define({ on, lane: { key: 'branch:{branch}', cooldown: '1s' } });
    bench.changesFiles(0);
    const [run = ''] = await happens('checks.failed', { branch, sha: 'a'.repeat(40), actor: null });
    await bench.works(run);
    bench.changesFiles(1);
    bench.clock.skip(2_000);
    expect(await lane()).toMatchObject({ key: `branch:${branch}`, attempts: 1 });
  });
  afterEach(() => bench.automations.remove(automation.name));

  const isHeld = async () =>
    expect((await lane())?.stuck).toBe('It changed no file: the next run needs a user.');
  const goesOn = async () => expect(await lane()).toBeUndefined();

  it('goes on when a user with write access comments /belay again, and begins with the next event', async () => {
    const next = async (sha: string) => {
      const [run = ''] = await happens('checks.failed', {
        branch,
        sha: sha.repeat(40),
        actor: null,
      });
      return run;
    };
    expect(await bench.ended(await next('b'))).toMatchObject({ state: 'skipped', code: 'stuck' });
    await asks();
    await goesOn();
    expect(await bench.works(await next('c'))).toMatchObject({ state: 'done' });
    const told = bench.kysely.selectFrom('automation_delivery').select('why');
    const rows = await told.where('why', 'is not', null).execute();
    expect(rows).toEqual([{ why: 'It lets 1 lane go on.' }]);
  });

  it.each(['reader', 'bot', 'server'] as const)('does not for what the %s does', async (name) => {
    const actor = users[name];
    await asks({ actor });
    await pushes({ actor });
    await isHeld();
  });

  it('does not for whoever is not known, for other words, and about something else', async () => {
    await asks({ actor: null });
    await pushes({ actor: null });
    await asks({ command: 'fix' });
    await asks({ number: 14 });
    await pushes({ number: 14, branch: 'belay/12_k3' });
    await happens('pull.commented', { actor: users.ada });
    await isHeld();
    await asks();
    await goesOn();
  });

  it('goes on when a user pushes to its branch, however that is told', async () => {
    await pushes();
    await goesOn();
  });

  it('goes on with a push without a pull request', async () => {
    const { key } = occurrenceOf('push', { key: `push:${++keys}` });
    await repository.delivers({
      event: 'push',
      key,
      at: '2026-11-28T10:00:00Z',
      branch,
      actor: users.ada,
    });
    await goesOn();
  });

  it('does not for what a run pushed, also with the token of a user', async () => {
    const sha = 'f'.repeat(40);
    await bench.kysely
      .insertInto('automation_outgoing')
      .values({
        id: `push-${++keys}`,
        run: `run-${keys}`,
        kind: 'push',
        target: `branch:${branch}`,
        n: 0,
        content: '{}',
        state: 'sent',
        remote_id: sha,
        at: '2026-11-28T10:00:00Z',
      })
      .execute();
    await pushes({ sha });
    await isHeld();
    await pushes();
    await goesOn();
  });

  it('is asked about again when the host is not there', async () => {
    const gone = new AppError('unavailable', 'The host is not there.');
    bench.clock.skip(3_600_000);
    jest.spyOn(forge, 'level').mockRejectedValueOnce(gone);
    await expect(asks()).rejects.toBe(gone);
    await isHeld();
    await asks();
    await goesOn();
  });
});
