import { fireEvent, screen, waitFor } from '@testing-library/react';
import { newEvent } from '@belay/protocol';
import { renderSession } from '@/testing/render-session';
import { logOf, summaryWith } from '@/testing/session-log';
import { SettingChips } from './setting-chips';

const models = ['scripted:x', 'openai:small', 'google:none'].map((name) => ({
  name,
  title: name,
  ready: name !== 'google:none',
  remedy: null,
}));
const settings = newEvent('agent', 'turn', {
  args: {
    change: 'settings',
    commands: [],
    options: [
      {
        id: 'modes',
        name: 'Mode',
        category: 'mode',
        value: 'default',
        choices: [
          { value: 'default', name: 'Default' },
          { value: 'plan', name: 'Plan first' },
        ],
      },
      { id: 'm', name: 'Its model', category: 'model', value: 'x', choices: [] },
    ],
  },
  message: 'Settings',
});
const show = () =>
  renderSession(<SettingChips />, {
    events: logOf(settings),
    summary: { model: 'scripted:x', network: 'packages' },
    replies: { models: { list: () => models }, sessions: { change: () => summaryWith() } },
  });
const open = async (name: string) =>
  fireEvent.keyDown(await screen.findByRole('button', { name }), { key: 'Enter' });

describe('the settings in the session header', () => {
  it.each([
    ['Model: x', 'openai:small', { model: 'openai:small' }],
    ['Approvals: Ask', 'Run at once', { approvals: 'auto' }],
    ['Mode: Default', 'Plan first', { agentOptions: { modes: 'plan' } }],
    ['Network: Registries', 'No network', { egress: { profile: 'none' } }],
  ])('%s can be changed while the session runs', async (chip, choice, change) => {
    const { rest } = await show();
    await open(chip);
    fireEvent.click(await screen.findByRole('menuitem', { name: choice }));
    await waitFor(() => expect(rest.bodiesOf('sessions.change')).toEqual([change]));
    expect(screen.queryByRole('menuitem', { name: 'google:none' })).toBeNull();
    expect(screen.queryByRole('button', { name: /Its model/ })).toBeNull();
  });
});
