import { act, screen, waitFor } from '@testing-library/react';
import {
  automationDefinition,
  type AutomationInfo,
  type AutomationRun,
  type ForgeSourceInfo,
} from '@belay/protocol';
import { TopBar } from '@/components/top-bar';
import { AutomationsPage } from '@/features/automations/automations-page';
import { renderWeb, type RenderOptions } from '@/testing/render-web';
import { noticesOf, useAutomationNotices } from '@/lib/automation-notices';
import { usePreferences } from '@/lib/preferences';
import { queryClient } from '@/lib/query-client';

const at = '2026-01-01T00:00:00Z';
const run = (id: string, part: Partial<AutomationRun>): AutomationRun => ({
  id,
  automation: 'nightly',
  version: 1,
  event: 'schedule',
  key: id,
  lane: 'all',
  subject: '#7',
  state: 'done',
  code: 'published',
  why: `Why of ${id}`,
  session: null,
  dollars: 0,
  check: null,
  pullRequest: null,
  created: at,
  started: at,
  ended: at,
  ...part,
});
const info = (part: Partial<AutomationInfo> = {}): AutomationInfo => ({
  name: 'nightly',
  version: 1,
  state: 'on',
  why: null,
  owner: 'owner',
  file: null,
  definition: automationDefinition.parse({
    name: 'nightly',
    on: { hand: true },
    run: { task: 'x', budgets: { dollars: 1 } },
  }),
  nextAt: null,
  latest: [],
  waiting: 0,
  dollarsThisMonth: 0,
  created: at,
  updated: at,
  ...part,
});
const source = (problem: string | null): ForgeSourceInfo => ({
  id: 's',
  host: 'git.test',
  repository: 'acme/api',
  self: 'belay',
  webhook: true,
  hookUrl: null,
  trustedBy: null,
  problem,
});

describe('what of automations needs a user', () => {
  it('is what paused itself, failed, is stuck or cannot be followed, and nothing else', () => {
    const latest = [
      run('r5', { state: 'skipped', code: 'stuck' }),
      run('r4', { state: 'done', code: 'stuck' }),
      run('r3', { state: 'failed', code: 'check' }),
      run('r2', { state: 'skipped', code: 'busy' }),
      run('r1', {}),
    ];
    const broken = info({ name: 'broken', state: 'broken', why: 'Five failures.' });
    const paused = info({ name: 'paused', state: 'paused', why: 'Paused by Ada.' });
    const found = noticesOf([info({ latest }), broken, paused], [source('No token.')]);
    expect(found.map(({ title }) => title)).toEqual([
      'nightly is stuck: #7',
      'nightly failed: #7',
      'broken paused itself',
      'git.test/acme/api has a problem',
    ]);
    expect(noticesOf([info({ latest: [run('r1', {})] })], [source(null)])).toEqual([]);
  });
});

describe('the notices of automations', () => {
  const notified: string[] = [];
  let latest: AutomationRun[];
  beforeEach(() => {
    notified.length = 0;
    latest = [run('r1', { state: 'failed' })];
    jest.spyOn(document, 'hidden', 'get').mockReturnValue(true);
    class Played extends EventTarget {
      static permission = 'granted';
      constructor(title: string) {
        super();
        notified.push(title);
      }
    }
    Object.assign(globalThis, { Notification: Played });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    Reflect.deleteProperty(globalThis, 'Notification');
  });

  const nothing = (): void => {};
  const Shell = ({ page = false }: { page?: boolean }) => {
    useAutomationNotices(nothing);
    return (
      <>
        <TopBar />
        {page && <AutomationsPage />}
      </>
    );
  };
  const render = (options: RenderOptions = {}, page = false) =>
    renderWeb(<Shell page={page} />, {
      replies: { automations: { list: () => [info({ latest })], sources: () => [] } },
      preferences: { notifications: true },
      ...options,
    });
  const look = () => act(() => queryClient.refetchQueries({ queryKey: ['automation-notices'] }));

  it('are counted, and the browser notifies of each new one once', async () => {
    await render();
    await screen.findByRole('img', { name: '1 needs you' });
    expect(notified).toEqual([]);
    latest = [run('r2', { state: 'failed', subject: '#8' }), ...latest];
    await look();
    await screen.findByRole('img', { name: '2 need you' });
    await waitFor(() => expect(notified).toEqual(['nightly failed: #8']));
    latest = [run('r3', { state: 'failed', subject: '#9' }), ...latest];
    await look();
    await waitFor(() => expect(notified).toEqual(['nightly failed: #8', 'nightly failed: #9']));
  });

  it('are one notification when there are many', async () => {
    await render();
    await screen.findByRole('img', { name: '1 needs you' });
    latest = [2, 3, 4, 5].map((n) => run(`r${n}`, { state: 'failed' }));
    await look();
    await waitFor(() => expect(notified).toEqual(['4 things of automations need you']));
  });

  it('are not shown to a user who wants none, nor counted once they were seen', async () => {
    await render({ preferences: {} }, true);
    await screen.findByRole('list', { name: 'Automations' });
    latest = [run('r2', { state: 'failed' }), ...latest];
    await look();
    await waitFor(() =>
      expect(usePreferences.getState().seenNotices).toEqual(['run r2', 'run r1']),
    );
    expect(notified).toEqual([]);
    expect(screen.queryByRole('img', { name: /need/ })).toBeNull();
  });

  it('are not asked for by those who cannot manage automations', async () => {
    const { rest } = await render({ role: 'viewer' });
    await screen.findByRole('link', { name: 'Automations' });
    expect(rest.sentTo('automations.sources')).toEqual([]);
  });
});
