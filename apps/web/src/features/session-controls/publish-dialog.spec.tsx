import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { AppError, type PreparedPublish } from '@belay/protocol';
import { renderWeb, type RenderOptions } from '@/testing/render-web';
import { summaryWith } from '@/testing/session-log';
import { PublishDialog } from './publish-dialog';
import { askPublish, suggestedBranch, usePublishRequest } from './publish-request';

const prepared: PreparedPublish = {
  id: 'a'.repeat(64),
  url: 'https://git.example.com/acme/app',
  host: 'git.example.com',
  kind: 'gitlab',
  base: 'main',
  branch: 'belay/fix-it',
  defaultBranch: 'main',
  isNewBranch: true,
  parent: 'b'.repeat(40),
  files: [
    { path: 'src/b.ts', from: 'src/a.ts', status: 'renamed', added: 1, removed: 2 },
    { path: 'logo.png', status: 'added', added: null, removed: null },
  ],
  refusals: [{ needs: 'ci-files', message: '.gitlab-ci.yml would run on the git host.' }],
  pullRequests: true,
  into: 'https://git.example.com/acme/app',
};
const published = {
  url: prepared.url,
  branch: prepared.branch,
  commit: 'c'.repeat(40),
  branchPage: null,
  pullRequest: {
    url: 'https://git.example.com/acme/app/-/merge_requests/5',
    number: 5,
    isNew: true,
  },
  problem: null,
};

const show = async (sessions: NonNullable<RenderOptions['replies']>['sessions'] = {}) => {
  const replies = {
    sessions: {
      preparePublish: () => prepared,
      draftMessage: () => ({ message: 'Fix it\n\nBecause.', model: 'openai:x' }),
      publish: () => published,
      ...sessions,
    },
  };
  const page = await renderWeb(<PublishDialog />, { replies });
  act(() => askPublish(summaryWith({ id: 's1', title: 'Fix it!' })));
  await screen.findByRole('dialog', { name: 'Publish changes' });
  return page;
};
const button = (name: string) => screen.findByRole('button', { name });
const click = async (name: string) => {
  const found = await button(name);
  await act(async () => fireEvent.click(found));
};

afterEach(() => act(() => usePublishRequest.setState({ session: null })));

it('shows what would be pushed and pushes exactly that once it is allowed', async () => {
  const { rest } = await show();
  const files = within(await screen.findByRole('list', { name: 'Changed files' }));
  expect(files.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
    'Rsrc/a.ts → src/b.ts+1 −2',
    'Alogo.pngbinary',
  ]);
  expect(rest.bodiesOf('sessions.preparePublish')).toEqual([{ branch: 'belay/fix-it' }]);
  await waitFor(() =>
    expect(screen.getByLabelText(/^Commit message/)).toHaveProperty('value', 'Fix it\n\nBecause.'),
  );
  expect(await button('Push and open')).toHaveProperty('disabled', true);
  fireEvent.click(screen.getByRole('checkbox', { name: /runs in CI/ }));
  await click('Push and open');
  const link = await screen.findByRole('link', { name: 'Open request 5' });
  expect(link.getAttribute('href')).toBe(published.pullRequest.url);
  expect(rest.bodiesOf('sessions.publish')).toEqual([
    {
      branch: 'belay/fix-it',
      allow: ['ci-files'],
      id: prepared.id,
      message: 'Fix it\n\nBecause.',
      pullRequest: { title: 'Fix it', body: 'Because.', draft: false },
    },
  ]);
});

it('pushes only to the branch whose changes it shows', async () => {
  const { rest } = await show({ preparePublish: () => ({ ...prepared, refusals: [] }) });
  await screen.findByRole('list', { name: 'Changed files' });
  const branch = screen.getByLabelText(/^Branch/);
  fireEvent.change(branch, { target: { value: 'other' } });
  expect(await button('Push and open')).toHaveProperty('disabled', true);
  fireEvent.blur(branch);
  await waitFor(() =>
    expect(rest.bodiesOf('sessions.preparePublish').at(-1)).toEqual({ branch: 'other' }),
  );
  fireEvent.click(await screen.findByRole('radio', { name: 'Push only' }));
  await click('Push');
  await screen.findByText(/^Pushed/);
  expect(rest.bodiesOf('sessions.publish')).toMatchObject([{ branch: 'other', pullRequest: null }]);
});

it('shows that a pull request from a fork targets the cloned repository', async () => {
  await show({ preparePublish: () => ({ ...prepared, into: 'https://git.example.com/up/app' }) });
  await screen.findByText('https://git.example.com/up/app');
});

it('explains why nothing can be prepared and asks for the repository', async () => {
  const preparePublish = () => {
    throw new AppError('invalid_input', 'This session was not cloned: name the repository.');
  };
  await show({ preparePublish });
  await screen.findByText(/^This session was not cloned/);
  expect(screen.queryByRole('alert')).toBeNull();
  expect(await button('Push')).toHaveProperty('disabled', true);
  const repository = screen.getByLabelText('Repository');
  expect(document.activeElement).toBe(repository);
  fireEvent.change(repository, { target: { value: 'nowhere' } });
  fireEvent.blur(repository);
  await screen.findByRole('alert');
});

it('offers the command that applies the changes to a folder', async () => {
  await show();
  fireEvent.click(screen.getByRole('radio', { name: 'My folder' }));
  await screen.findByText('belay patch s1 --apply .');
});

it.each([
  ['Fix the “Überblick” page, please!', 'belay/fix-the-uberblick-page-please'],
  ['修复', 'belay/changes'],
])('suggests a branch for %j', (title, branch) => {
  expect(suggestedBranch(title)).toBe(branch);
});
