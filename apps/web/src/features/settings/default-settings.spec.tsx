import type { ReactNode } from 'react';
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { changedDefaults, sessionDefaults } from '@belay/protocol';
import { settingsQuery } from '@/lib/queries';
import { queryClient } from '@/lib/query-client';
import { renderWeb } from '@/testing/render-web';
import { ApprovalDefault, BudgetSettings, NetworkSettings } from './default-settings';

/** Renders the form with a server that stores the settings. */
const show = (element: ReactNode, role: 'user' | 'viewer' = 'user') => {
  let saved = sessionDefaults.parse({
    budgets: { steps: 40, tokens: null, dollars: 2.5, seconds: 90 },
    egress: { profile: 'list', hosts: ['a.example', 'b.example'] },
  });
  return renderWeb(element, {
    role,
    replies: {
      settings: {
        read: () => saved,
        change: ({ body }) => (saved = changedDefaults(saved, body)),
      },
    },
  });
};
const field = (label: RegExp) => screen.findByLabelText(label);
const write = async (label: RegExp, value: string) =>
  fireEvent.change(await field(label), { target: { value } });
const save = async () => fireEvent.click(await screen.findByRole('button', { name: 'Save' }));

describe('the limits of new sessions', () => {
  it('are shown in their units, and as an empty field if there is none', async () => {
    await show(<BudgetSettings />);
    expect(await field(/^Step limit/)).toHaveProperty('value', '40');
    expect(await field(/^Token limit/)).toHaveProperty('value', '');
    expect(await field(/^Spending limit \(\$\)/)).toHaveProperty('value', '2.5');
    expect(await field(/^Time limit \(minutes\)/)).toHaveProperty('value', '1.5');
    expect(await screen.findByRole('button', { name: 'Save' })).toHaveProperty('disabled', true);
  });

  it('send only what was changed, with an empty field as no limit', async () => {
    const { rest } = await show(<BudgetSettings />);
    await write(/^Step limit/, '');
    await write(/^Token limit/, '200000');
    await write(/^Time limit/, '0.5');
    await save();
    await screen.findByText('Saved for new sessions.');
    expect(rest.bodiesOf('settings.change')).toEqual([
      { budgets: { steps: null, tokens: 200_000, seconds: 30 }, egress: {} },
    ]);
    expect(await field(/^Step limit/)).toHaveProperty('value', '');
    expect(await field(/^Spending limit/)).toHaveProperty('value', '2.5');
    expect(await screen.findByRole('button', { name: 'Save' })).toHaveProperty('disabled', true);
  });

  it.each([
    [/^Step limit/, '0'],
    [/^Token limit/, '2.5'],
    [/^Spending limit/, '-1'],
    [/^Time limit/, '0'],
  ])('%s cannot be %s', async (label, value) => {
    const { rest } = await show(<BudgetSettings />);
    await write(label, value);
    await save();
    expect(await field(label)).toHaveProperty('validity.valid', false);
    expect(rest.sentTo('settings.change')).toEqual([]);
  });

  it('are read-only for a viewer', async () => {
    await show(<BudgetSettings />, 'viewer');
    const limit = await field(/^Step limit/);
    await waitFor(() => expect(limit.matches(':disabled')).toBe(true));
  });
});

describe('the network of new sessions', () => {
  it('accepts typed hosts', async () => {
    const { rest } = await show(<NetworkSettings />);
    expect(await field(/^Allowed hosts/)).toHaveProperty('value', 'a.example, b.example');
    await write(/^Allowed hosts/, 'a.example,c.example:8080  *.d.example,');
    await save();
    await waitFor(() =>
      expect(rest.bodiesOf('settings.change')).toEqual([
        { budgets: {}, egress: { hosts: ['a.example', 'c.example:8080', '*.d.example'] } },
      ]),
    );
  });

  it('adds the hosts of a package manager by one click and lists them', async () => {
    const { rest } = await show(<NetworkSettings />);
    const npm = await screen.findByRole('button', { name: 'npm' });
    fireEvent.click(npm);
    await screen.findByText(/^@npm: registry\.npmjs\.org, .*codeload\.github\.com/);
    fireEvent.click(screen.getByRole('button', { name: 'apt' }));
    fireEvent.click(npm);
    await save();
    await waitFor(() =>
      expect(rest.bodiesOf('settings.change')).toEqual([
        { budgets: {}, egress: { hosts: ['a.example', 'b.example', '@apt'] } },
      ]),
    );
  });

  it('can be disabled by its profile', async () => {
    const { rest } = await show(<NetworkSettings />);
    await write(/^Network/, 'none');
    await save();
    await waitFor(() =>
      expect(rest.bodiesOf('settings.change')).toEqual([
        { budgets: {}, egress: { profile: 'none' } },
      ]),
    );
  });
});

it('keeps what is typed when the settings change elsewhere', async () => {
  await show(<ApprovalDefault />);
  await write(/^Approvals/, 'auto');
  const changed = sessionDefaults.parse({ budgets: { steps: 7 } });
  act(() => void queryClient.setQueryData(settingsQuery.queryKey, changed));
  expect(await field(/^Approvals/)).toHaveProperty('value', 'auto');
  expect(await screen.findByRole('button', { name: 'Save' })).toHaveProperty('disabled', false);
});

it('changes the approvals of new sessions', async () => {
  const { rest } = await show(<ApprovalDefault />);
  expect(
    await screen.findByRole('option', { name: 'Ask before commands and network' }),
  ).toHaveProperty('selected', true);
  await write(/^Approvals/, 'auto');
  await save();
  await waitFor(() =>
    expect(rest.bodiesOf('settings.change')).toEqual([
      { approvals: 'auto', budgets: {}, egress: {} },
    ]),
  );
});
