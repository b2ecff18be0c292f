import { act, fireEvent, screen, within } from '@testing-library/react';
import { automationDefinition, type AutomationInfo, type AutomationRun } from '@belay/protocol';
import { useQuestion } from '@/lib/ask';
import { renderWeb } from '@/testing/render-web';
import { AutomationsPage } from './automations-page';
import { DefinitionEditor } from './definition-editor';
import { DeliveriesSection } from './deliveries-section';
import { LanesSection } from './lanes-section';
import { RunsSection } from './runs-section';

const definition = automationDefinition.parse({
  name: 'nightly',
  on: { schedule: '30 2 * * 1-5', zone: 'Europe/Berlin' },
  run: { task: 'Tidy up', budgets: { dollars: 1 } },
});

const run = (part: Partial<AutomationRun>): AutomationRun => ({
  id: 'r1',
  automation: 'nightly',
  version: 1,
  event: 'schedule',
  key: 'schedule:1',
  lane: 'schedule',
  subject: 'schedule',
  state: 'done',
  code: 'published',
  why: null,
  session: null,
  dollars: 0.4,
  check: null,
  pullRequest: null,
  created: '2026-01-02T00:00:00Z',
  started: null,
  ended: null,
  ...part,
});

const info = (part: Partial<AutomationInfo> = {}): AutomationInfo => ({
  name: 'nightly',
  version: 1,
  state: 'on',
  why: null,
  owner: 'owner',
  file: null,
  definition,
  nextAt: null,
  latest: [],
  waiting: 0,
  dollarsThisMonth: 2,
  created: '2026-01-01T00:00:00Z',
  updated: '2026-01-01T00:00:00Z',
  ...part,
});

describe('the page of the automations', () => {
  it('shows what begins each, its latest runs, its money, and why it paused itself', async () => {
    const latest = [run({ id: 'r2', code: 'stuck' }), run({})];
    const why = 'Five runs in a row failed.';
    await renderWeb(<AutomationsPage />, {
      replies: {
        automations: {
          list: () => [info({ latest, state: 'broken', why, waiting: 2 })],
          sources: () => [],
        },
      },
    });
    const row = within(await screen.findByRole('list', { name: 'Automations' }));
    row.getByText('At 02:30 from Monday to Friday (Europe/Berlin)');
    row.getByText(why);
    row.getByText(/2 queued · \$2\.00 of \$50\.00 this month/);
    // The newest is on the right.
    row.getByRole('img', { name: 'Latest runs: published, stuck' });
  });

  it('adds a definition that begins with a job, and says what is wrong with it', async () => {
    const { rest, pathname } = await renderWeb(<AutomationsPage />, {
      replies: {
        automations: {
          list: () => [],
          sources: () => [],
          jobs: () => [{ name: 'nightly', description: 'A task at night', text: 'name: nightly' }],
          check: () => ({
            problems: [{ path: 'run', message: 'run is missing', line: 1, column: 1 }],
            warnings: [],
            next: [],
            schedule: null,
          }),
          add: () => info(),
        },
      },
    });
    fireEvent.click(await screen.findByRole('button', { name: 'New automation' }));
    const choice = await screen.findByLabelText(/Begin with/);
    fireEvent.change(choice, { target: { value: 'nightly' } });
    await screen.findByText('run is missing');
    await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Add' })));
    expect(rest.bodiesOf('automations.add')).toMatchObject([{ text: 'name: nightly' }]);
    expect(pathname()).toBe('/automations/nightly');
  });

  it('asks before a job replaces what was typed', async () => {
    const jobs = ['nightly', 'review'].map((name) => ({ name, description: '', text: name }));
    const check = () => ({ problems: [], warnings: [], next: [], schedule: null });
    await renderWeb(<AutomationsPage />, {
      replies: {
        automations: { list: () => [], sources: () => [], jobs: () => jobs, check },
      },
    });
    fireEvent.click(await screen.findByRole('button', { name: 'New automation' }));
    const choice = await screen.findByLabelText(/Begin with/);
    const choose = (value: string) =>
      act(async () => fireEvent.change(choice, { target: { value } }));
    const editor = screen.getByLabelText<HTMLTextAreaElement>('Definition (YAML)');
    await choose('nightly');
    await choose('review');
    expect(editor.value).toBe('review');
    fireEvent.change(editor, { target: { value: 'mine' } });
    for (const [given, value] of [
      [null, 'mine'],
      ['', 'nightly'],
    ] as const) {
      await choose('nightly');
      await act(async () => useQuestion.getState().question?.answer(given));
      expect(editor.value).toBe(value);
    }
  });

  it('offers no change to viewers', async () => {
    await renderWeb(<AutomationsPage />, {
      role: 'viewer',
      replies: { automations: { list: () => [info()], sources: () => [] } },
    });
    await screen.findByRole('list', { name: 'Automations' });
    expect(screen.queryByRole('button', { name: 'New automation' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Follow a repository' })).toBeNull();
  });
});

test('runs say what came of them, and decisions against one why', async () => {
  const why = 'ada has the permission read, and needs write.';
  await renderWeb(<RunsSection automation={info()} />, {
    replies: {
      automations: {
        history: () => [run({ id: 'r2', state: 'refused', code: 'permission', why }), run({})],
      },
    },
  });
  await screen.findByText(why);
  screen.getByText('refused');
  const links = screen.getAllByRole('link').map((link) => link.getAttribute('href'));
  // What was refused leads to where that is changed.
  const change = '/automations/nightly?section=definition';
  expect(links).toEqual(['/automations/nightly/runs/r2', change, '/automations/nightly/runs/r1']);
});

test('deliveries lead to the runs that they began', async () => {
  const at = '2026-01-02T00:00:00Z';
  const one = { at, state: 'done', why: null } as const;
  await renderWeb(<DeliveriesSection automation={info()} />, {
    replies: {
      automations: {
        deliveries: () => [
          { ...one, id: 'd2', transport: 'url', event: 'url', runs: ['r7'] },
          { ...one, id: 'd1', transport: 'poll', event: 'issue.labelled', runs: [] },
        ],
      },
    },
  });
  const [first, second] = within(
    await screen.findByRole('list', { name: 'Deliveries' }),
  ).getAllByRole('listitem');
  expect(first?.textContent).toMatch(/^Request to its URL taken up/);
  expect(second?.textContent).toMatch(/^issue.labelled by polling, taken up/);
  const links = screen.getAllByRole('link').map((link) => link.getAttribute('href'));
  expect(links).toEqual(['/automations/nightly/runs/r7']);
});

test('a stuck lane is reset by a user', async () => {
  let stuck: string | null = 'The last run changed nothing.';
  const { rest } = await renderWeb(<LanesSection automation={info()} />, {
    replies: {
      automations: {
        lanes: () => [{ key: 'pr:7', running: null, attempts: 2, lastStart: null, stuck }],
        resetLane: () => void (stuck = null),
      },
    },
  });
  await screen.findByText('The last run changed nothing.');
  await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Reset pr:7' })));
  expect(rest.bodiesOf('automations.resetLane')).toEqual([{ key: 'pr:7' }]);
});

test('a definition that cannot be changed is not checked', async () => {
  const { rest } = await renderWeb(
    <DefinitionEditor text="name: x" onChange={() => undefined} readOnly />,
  );
  await screen.findByLabelText('Definition (YAML)');
  expect(rest.bodiesOf('automations.check')).toEqual([]);
});
