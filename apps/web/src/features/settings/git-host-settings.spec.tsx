import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { AppError, type GitHost } from '@belay/protocol';
import { renderWeb, type RenderOptions } from '@/testing/render-web';
import { GitHostSettings } from './git-host-settings';

const host: GitHost = {
  host: 'git.example.com',
  kind: 'gitea',
  api: null,
  user: null,
  scope: 'operate',
  private: false,
  insecure: false,
  token: true,
};
const show = (git: NonNullable<RenderOptions['replies']>['git'] = {}) =>
  renderWeb(<GitHostSettings />, {
    replies: {
      git: { hosts: () => [host], setHost: () => host, testHost: () => ({ user: 'ada' }), ...git },
    },
  });
const click = async (name: string) => {
  const found = await screen.findByRole('button', { name });
  await act(async () => fireEvent.click(found));
};
const write = (label: RegExp | string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });

it('adds a host by name and token, and infers its kind from the name', async () => {
  const { rest } = await show();
  await click('Add a git host');
  write('Host', 'GitLab.com');
  write(/^Token/, 'glpat-1');
  await click('Save');
  await waitFor(() => expect(rest.sentTo('git.testHost')).toHaveLength(1));
  expect(rest.sentTo('git.setHost')).toMatchObject([
    { params: { host: 'gitlab.com' }, body: { kind: 'gitlab', token: 'glpat-1' } },
  ]);
});

it('reports a wrong token on saving, and keeps the saved one if the field is empty', async () => {
  const testHost = () => {
    throw new AppError('unauthorized', 'git.example.com refused the token.');
  };
  const { rest } = await show({ testHost });
  await click('Change git.example.com');
  expect(screen.getByLabelText(/^Token/)).toHaveProperty('value', '');
  write(/^Token/, 'wrong');
  await click('Save');
  await screen.findByText(/^Saved, but the test failed: git.example.com refused the token/);
  write(/^Token/, '');
  await click('Save');
  await waitFor(() => expect(rest.sentTo('git.setHost')).toHaveLength(2));
  expect(rest.bodiesOf('git.setHost')[1]).not.toHaveProperty('token');
});
