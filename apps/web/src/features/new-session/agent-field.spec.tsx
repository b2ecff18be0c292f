import { useState } from 'react';
import { fireEvent, screen } from '@testing-library/react';
import type { AgentChoice } from '@belay/protocol';
import { renderWeb } from '@/testing/render-web';
import { AgentField } from './agent-field';

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

function Form({ models }: { models: string[] }) {
  const [form, setForm] = useState({ agent: '', small: '' });
  return (
    <>
      <AgentField
        {...form}
        models={models}
        onChange={(part) => setForm((before) => ({ ...before, ...part }))}
      />
      <output>{JSON.stringify(form)}</output>
    </>
  );
}

const show = (agents: AgentChoice[], models = ['google:large']) =>
  renderWeb(<Form models={models} />, { replies: { agents: { list: () => agents } } });
const choose = async (value: string) =>
  fireEvent.change(await screen.findByRole('combobox', { name: /^Agent/ }), { target: { value } });

it('is not there while no agent is installed', async () => {
  const { rest } = await show([{ ...agent, state: 'missing', version: null }]);
  await screen.findByRole('status');
  expect(rest.sentTo('agents.list')).toHaveLength(1);
  expect(screen.queryByRole('combobox')).toBeNull();
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
  expect(screen.getByRole('status').textContent).toBe('{"agent":"other","small":"google:little"}');
});

it('says whose models the agent needs', async () => {
  await show([agent], ['google:large', 'openai:small']);
  await choose('other');
  await screen.findByText('Other is for models of Google: choose one of these.');
});
