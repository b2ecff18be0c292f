import { useState } from 'react';
import { fireEvent, screen } from '@testing-library/react';
import type { AgentChoice } from '@belay/protocol';
import { renderWeb } from '@/testing/render-web';
import { AgentField } from './agent-field';
import type { SessionForm } from './session-form';

const agent: AgentChoice = {
  name: 'other',
  title: 'Other',
  about: 'Another one.',
  kind: 'installable',
  protocols: ['acp'],
  formats: ['gemini'],
  licence: null,
  state: 'ready',
  version: '1.2.0',
  newest: '1.2.0',
  bytes: { done: 0, total: 0 },
  error: null,
  sessions: 0,
  command: [],
  variables: [],
};

type Chosen = Pick<SessionForm, 'agent' | 'protocol' | 'small' | 'login' | 'others'>;

const nothingChosen: Chosen = { agent: '', protocol: '', small: '', login: false, others: [] };

function Form({ models }: { models: string[] }) {
  const [form, setForm] = useState(nothingChosen);
  return (
    <>
      <AgentField
        form={{ ...form, models }}
        onChange={(part) => setForm((before) => ({ ...before, ...part }))}
      />
      <output>{JSON.stringify(form)}</output>
    </>
  );
}

const ready = ['google:large', 'openai:small'].map((name) => ({
  name,
  title: name,
  ready: true,
  remedy: null,
}));

const show = (agents: AgentChoice[], models = ['google:large']) =>
  renderWeb(<Form models={models} />, {
    replies: { agents: { list: () => agents }, models: { list: () => ready } },
  });
const choose = async (value: string) =>
  fireEvent.change(await screen.findByRole('combobox', { name: /^Agent/ }), { target: { value } });

it('shows what could be installed, and where', async () => {
  await show([{ ...agent, state: 'missing', version: null }]);
  const option = await screen.findByRole('option', { name: 'Other (not installed)' });
  expect(option).toHaveProperty('disabled', true);
  const link = await screen.findByRole('link', { name: 'the settings' });
  expect(link.getAttribute('href')).toBe('/settings?section=agents');
});

it('is driven in the best way, or in the one that is chosen', async () => {
  await show([{ ...agent, protocols: ['acp', 'terminal'] }]);
  await choose('other');
  const best = await screen.findByRole('radio', { name: 'Agent Client Protocol' });
  expect(best).toHaveProperty('ariaChecked', 'true');
  fireEvent.click(screen.getByRole('radio', { name: 'In a terminal' }));
  expect(screen.getByRole('status').textContent).toContain('"protocol":"terminal"');
  await choose('');
  expect(screen.getByRole('status').textContent).toContain('"protocol":""');
});

it('chooses an agent with its model for small tasks', async () => {
  await show([agent, { ...agent, kind: 'custom', name: 'mine', title: 'Mine', version: null }]);
  const select = await screen.findByRole('combobox', { name: /^Agent/ });
  expect([...select.children].map(({ textContent }) => textContent)).toEqual([
    'Belay',
    'Other 1.2.0',
    'Mine',
  ]);
  expect(screen.queryByLabelText(/^Model for small tasks/)).toBeNull();
  await choose('other');
  await screen.findByText('Another one.');
  fireEvent.change(screen.getByLabelText(/^Model for small tasks/), {
    target: { value: 'google:little' },
  });
  const form = JSON.parse(screen.getByRole('status').textContent) as Chosen;
  expect(form).toEqual({ ...nothingChosen, agent: 'other', small: 'google:little' });
});

it('compares with further agents, each with a model that it can call', async () => {
  await show([agent, { ...agent, name: 'mine', title: 'Mine', formats: ['responses'] }]);
  const add = await screen.findByRole('button', { name: 'Compare with another agent' });
  const others = () => (JSON.parse(screen.getByRole('status').textContent) as Chosen).others;
  await choose('other');
  fireEvent.click(add);
  expect(others()).toMatchObject([{ agent: 'mine' }]);
  await screen.findByRole('option', { name: 'openai:small' });
  const chooseOther = (value: string) =>
    fireEvent.change(screen.getByLabelText('Agent 2'), { target: { value } });
  chooseOther('other');
  expect(others()).toEqual([{ agent: 'other', model: 'google:large' }]);
  expect(screen.queryByRole('option', { name: 'openai:small' })).toBeNull();
  chooseOther('');
  fireEvent.change(screen.getByLabelText('Model of agent 2'), {
    target: { value: 'openai:small' },
  });
  expect(others()).toEqual([{ agent: '', model: 'openai:small' }]);
  fireEvent.click(screen.getByRole('button', { name: 'Remove agent 2' }));
  expect(others()).toEqual([]);
});

it('adds an agent that can call one of the models, if there is one', async () => {
  await show([agent, { ...agent, name: 'mine', formats: ['messages'] }]);
  await choose('other');
  fireEvent.click(await screen.findByRole('button', { name: 'Compare with another agent' }));
  const form = JSON.parse(screen.getByRole('status').textContent) as Chosen;
  expect(form.others).toEqual([{ agent: '', model: 'google:large' }]);
});

it('says whose models the agent needs', async () => {
  await show([agent], ['google:large', 'openai:small']);
  await choose('other');
  await screen.findByText('Other is for models of Google: choose one of these.');
});

it('says that a script cannot play the model of an agent', async () => {
  await show([agent], ['scripted:example']);
  await choose('other');
  await screen.findByText(/^Other calls its model itself: choose a model of a provider/);
});

it('lets the user sign in where the agent has that, without models of the server', async () => {
  await show(
    [{ ...agent, protocols: ['acp', 'terminal'], login: 'possible' }],
    ['anthropic:large'],
  );
  await choose('other');
  await screen.findByText(/^Other is for/);
  fireEvent.click(screen.getByRole('checkbox', { name: /^Sign in myself/ }));
  expect(screen.getByRole('status').textContent).toContain('"login":true');
  expect(screen.getByRole('checkbox').closest('label')?.textContent).toContain(
    'The sandbox then holds my credential',
  );
  for (const name of [/^Other is for/, /^Model for small tasks/, 'In a terminal'])
    expect(screen.queryByText(name)).toBeNull();
});

it('offers no sign-in for an agent without one', async () => {
  await show([agent]);
  await choose('other');
  await screen.findByText('Another one.');
  expect(screen.queryByRole('checkbox')).toBeNull();
});
