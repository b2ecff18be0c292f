import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { AgentChoice } from '@belay/protocol';
import { QuestionDialog } from '@/components/ui/question-dialog';
import { renderWeb } from '@/testing/render-web';
import { AgentSettings } from './agent-settings';

const agent: AgentChoice = {
  name: 'one',
  title: 'Agent One',
  about: 'The first one.',
  kind: 'installable',
  protocols: ['acp'],
  formats: ['messages', 'chat'],
  licence: { spdx: 'MIT', url: 'https://vendor.example/licence' },
  state: 'missing',
  version: null,
  newest: '2.0.0',
  bytes: { done: 0, total: 0 },
  error: null,
  sessions: 0,
  command: [],
  variables: [],
};

/** Shows what `list` returns, which the test changes. */
const show = async (list: AgentChoice[]) => {
  const page = await renderWeb(
    <>
      <AgentSettings />
      <QuestionDialog />
    </>,
    {
      replies: {
        agents: {
          list: () => list,
          install: () => agent,
          remove: () => undefined,
          logout: () => undefined,
          saveCustom: () => agent,
        },
      },
    },
  );
  await screen.findByText(/^Use an agent that you know/);
  return page;
};
const click = async (name: string | RegExp) => {
  const found = await screen.findByRole('button', { name });
  await act(async () => fireEvent.click(found));
};
const write = (label: RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });

it('shows what an agent is, whose models it uses, and its licence', async () => {
  await show([agent]);
  const row = await screen.findByRole('listitem', { name: 'Agent One' });
  within(row).getByText('The first one.');
  expect(row.textContent).toContain(
    'For models of Anthropic, OpenAI and OpenAI-compatible servers',
  );
  const licence = within(row).getByRole('link', { name: 'MIT' });
  expect(licence.getAttribute('href')).toBe('https://vendor.example/licence');
});

it('installs an open one at once, and shows how far it is', async () => {
  const list = [agent];
  const { rest } = await show(list);
  // The list that is fetched next, which is when the install has begun.
  list[0] = { ...agent, state: 'installing', bytes: { done: 1_000_000, total: 4_000_000 } };
  await click('Install Agent One');
  expect(rest.sentTo('agents.install')).toMatchObject([
    { params: { agent: 'one' }, body: { accept: true } },
  ]);
  const meter = await screen.findByRole('meter', { name: 'Download of Agent One' });
  expect(meter.getAttribute('aria-valuenow')).toBe('1000000');
  list[0] = { ...agent, state: 'ready', version: '2.0.0' };
  await screen.findByRole('button', { name: 'Remove Agent One' });
  expect(screen.queryByRole('button', { name: /Install/ })).toBeNull();
});

it('asks before a proprietary one is installed', async () => {
  const { rest } = await show([{ ...agent, licence: { spdx: null, url: 'https://v.example/t' } }]);
  await click('Install Agent One');
  await screen.findByText(/you accept the terms of its vendor: https:\/\/v\.example\/t/);
  await click('Cancel');
  expect(rest.sentTo('agents.install')).toEqual([]);
  await click('Install Agent One');
  await click('Accept and install');
  await waitFor(() => expect(rest.sentTo('agents.install')).toHaveLength(1));
});

it('offers an update, and says what keeps the files of a removed one', async () => {
  const old = { ...agent, version: '1.0.0', sessions: 3 };
  const { rest } = await show([{ ...old, state: 'failed', error: 'It was changed.' }]);
  await screen.findByText('2.0.0 available');
  expect((await screen.findByRole('alert')).textContent).toBe('It was changed.');
  await click('Update Agent One');
  expect(rest.sentTo('agents.install')).toHaveLength(1);
  await click('Remove Agent One');
  await screen.findByText(/stay until 3 sessions with it are deleted/);
  await click('Remove');
  await waitFor(() => expect(rest.sentTo('agents.remove')).toHaveLength(1));
});

it('adds an entry of one’s own', async () => {
  const { rest } = await show([]);
  await click('Add agent');
  write(/^Name/, 'mine');
  write(/^Command/, 'my-agent\n--task\n{task}\n');
  fireEvent.click(screen.getByRole('radio', { name: 'In a terminal' }));
  await click('Add');
  expect(rest.sentTo('agents.saveCustom')).toMatchObject([
    {
      params: { agent: 'mine' },
      body: { command: ['my-agent', '--task', '{task}'], protocol: 'terminal', env: {} },
    },
  ]);
});

it('replaces no agent by one that is added', async () => {
  const { rest } = await show([agent]);
  await click('Add agent');
  write(/^Command/, 'my-agent');
  for (const name of ['one', 'belay']) {
    write(/^Name/, name);
    await click('Add');
    const field = screen.getByLabelText<HTMLInputElement>(/^Name/);
    expect(field.validationMessage).toBe('There is an agent of this name: choose another one.');
  }
  expect(rest.sentTo('agents.saveCustom')).toEqual([]);
  write(/^Name/, 'two');
  await click('Add');
  expect(rest.sentTo('agents.saveCustom')).toHaveLength(1);
});

it('changes an entry, and keeps what it does not show', async () => {
  const command = ['sh', '-c', 'first\nsecond'];
  const variables = ['KEPT', 'CHANGED', 'REMOVED'];
  const mine: AgentChoice = { ...agent, kind: 'custom', name: 'mine', command, variables };
  const { rest } = await show([mine]);
  await click('Edit Agent One');
  expect(screen.queryByLabelText(/^Name$/)).toBeNull();
  write(/^Title/, 'Agent 1');
  write(/^Value of CHANGED/, 'new');
  await click('Remove REMOVED');
  await click('Save');
  expect(rest.sentTo('agents.saveCustom')).toEqual([
    {
      params: { agent: 'mine' },
      query: {},
      body: { title: 'Agent 1', command, protocol: 'acp', env: { KEPT: null, CHANGED: 'new' } },
    },
  ]);
  await click('Edit Agent One');
  write(/^Command/, 'my-agent\n--acp');
  await click('Save');
  expect(rest.bodiesOf('agents.saveCustom')[1]).toMatchObject({ command: ['my-agent', '--acp'] });
});

it('logs its user out of an agent once that is confirmed', async () => {
  const { rest } = await show([
    { ...agent, login: 'kept' },
    { ...agent, name: 'two', title: 'Agent Two', login: 'possible' },
  ]);
  await screen.findByRole('listitem', { name: 'Agent Two' });
  expect(screen.queryByRole('button', { name: 'Log out of Agent Two' })).toBeNull();
  await click('Log out of Agent One');
  await click('Cancel');
  expect(rest.sentTo('agents.logout')).toEqual([]);
  await click('Log out of Agent One');
  await click('Log out');
  await waitFor(() =>
    expect(rest.sentTo('agents.logout')).toMatchObject([{ params: { agent: 'one' } }]),
  );
});
