import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { AppError, type PreparedPublish, type SessionSummary } from '@belay/protocol';
import { renderWeb, type RenderOptions } from '@/testing/render-web';
import { summaryWith } from '@/testing/session-log';
import { useAuthor } from './publish-choice';
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
  author: { name: 'Ada', email: 'ada@example.com' },
  sessionPage: 'https://belay.example.com/sessions/s1',
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
  reruns: null,
};

const show = async (
  sessions: NonNullable<RenderOptions['replies']>['sessions'] = {},
  summary: Partial<SessionSummary> = {},
) => {
  useAuthor.setState({ author: null });
  const replies = {
    sessions: {
      preparePublish: () => prepared,
      draftMessage: () => ({ message: 'Fix it\n\nBecause.', model: 'openai:x' }),
      publish: () => published,
      ...sessions,
    },
  };
  const page = await renderWeb(<PublishDialog />, { replies });
  act(() => askPublish(summaryWith({ id: 's1', title: 'Fix it!', cloned: true, ...summary })));
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
  const link = await screen.findByRole('link', { name: 'Open pull request 5' });
  expect(link.getAttribute('href')).toBe(published.pullRequest.url);
  expect(rest.bodiesOf('sessions.publish')).toEqual([
    {
      branch: 'belay/fix-it',
      allow: ['ci-files'],
      id: prepared.id,
      message: 'Fix it\n\nBecause.',
      author: { name: 'Ada', email: 'ada@example.com' },
      pullRequest: {
        title: 'Fix it',
        body: 'Because.\n\nMade in this session: https://belay.example.com/sessions/s1',
        draft: false,
      },
    },
  ]);
});

it('takes another author, title and description, and remembers the author', async () => {
  const { rest } = await show({ preparePublish: () => ({ ...prepared, refusals: [] }) });
  await screen.findByRole('list', { name: 'Changed files' });
  const write = (label: RegExp, value: string) =>
    fireEvent.change(screen.getByLabelText(label), { target: { value } });
  write(/^Author$/, 'Eve');
  write(/^Author’s email/, 'eve@example.com');
  write(/^Title/, 'Another title');
  write(/^Description/, 'Another text');
  await click('Push and open');
  await screen.findByText(/^Pushed/);
  expect(rest.bodiesOf('sessions.publish')).toMatchObject([
    {
      author: { name: 'Eve', email: 'eve@example.com' },
      pullRequest: { title: 'Another title', body: 'Another text' },
    },
  ]);
  expect(useAuthor.getState().author).toEqual({ name: 'Eve', email: 'eve@example.com' });
});

it('runs a test again if one is named, and shows what was found', async () => {
  const run = { tree: 't', seconds: 2, isReasonPrinted: false, problem: null };
  const claim = {
    claim: 'check' as const,
    verdict: 'refuted' as const,
    why: 'The check passes before the change and fails with it.',
    command: 'npm test',
    runs: [
      { ...run, on: 'base' as const, exitCode: 0, output: null },
      { ...run, on: 'result' as const, exitCode: 1, output: 'b'.repeat(64) },
    ],
  };
  const { rest } = await show({
    preparePublish: () => ({ ...prepared, refusals: [] }),
    publish: () => ({ ...published, reruns: { image: { name: 'i', id: 'x' }, claims: [claim] } }),
    blob: () => new TextEncoder().encode('\u001b[31mnot ok 1 - adds\u001b[0m'),
  });
  await screen.findByRole('list', { name: 'Changed files' });
  const write = (label: RegExp, value: string) =>
    fireEvent.change(screen.getByLabelText(label), { target: { value } });
  fireEvent.click(screen.getByText('Run a test again'));
  expect(screen.getByLabelText(/^Test command/)).toHaveProperty('required', false);
  write(/^Test command/, 'npm test -- test/a.js');
  expect(screen.getByLabelText(/^Expected failure/)).toHaveProperty('required', true);
  write(/^Test files/, 'test/a.js\n\n test/b.js ');
  write(/^Expected failure/, 'x is undefined');
  await click('Push and open');
  const verdicts = within(await screen.findByRole('list', { name: 'Verdicts' }));
  expect(verdicts.getAllByRole('listitem')[0]?.textContent).toBe(
    'Check refutedThe check passes before the change and fails with it.npm testBefore the changeexit 0 · 2sWith the changeexit 1 · 2s',
  );
  await click('Before the change exit 0 · 2s');
  expect(verdicts.getByText('It printed nothing.')).toBeTruthy();
  await click('With the change exit 1 · 2s');
  await verdicts.findByText('not ok 1 - adds');
  expect(rest.sentTo('sessions.blob')).toHaveLength(1);
  expect(rest.bodiesOf('sessions.publish')).toMatchObject([
    {
      reproduction: {
        command: 'npm test -- test/a.js',
        files: ['test/a.js', 'test/b.js'],
        expects: 'x is undefined',
      },
    },
  ]);
});

describe('a session that was published', () => {
  const { url, branch } = prepared;
  const request = { url: published.pullRequest.url, number: 5, into: url };
  const before = { url, branch, base: 'main', commit: 'd'.repeat(40), pullRequest: request };
  const status = { url: request.url, number: 5, title: 'Fix it', checks: 'none' as const };
  const open = (state: 'open' | 'merged') =>
    show(
      {
        preparePublish: () => ({ ...prepared, isNewBranch: false, refusals: [] }),
        pullRequest: () => ({ pullRequest: { ...status, state } }),
      },
      { published: before },
    );

  it('updates its open pull request by a push to the same branch', async () => {
    const { rest } = await open('open');
    await waitFor(async () =>
      expect(await button('Update request 5')).toHaveProperty('disabled', false),
    );
    await click('Update request 5');
    await screen.findByText(/^Pushed/);
    expect(rest.bodiesOf('sessions.publish')).toMatchObject([{ url, branch, pullRequest: null }]);
  });

  it('opens another one once that is merged', async () => {
    await open('merged');
    await button('Push and open');
  });
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

it('asks for the repository of a session that was not cloned, before it asks the server', async () => {
  const preparePublish = ({ body }: { body: { url?: string | undefined } }) => {
    if (body.url === prepared.url) return prepared;
    throw new AppError('invalid_input', 'This is not the address of a repository.');
  };
  const { rest } = await show({ preparePublish }, { cloned: false });
  await screen.findByText(/^This session was not cloned/);
  expect(screen.queryByRole('alert')).toBeNull();
  expect(rest.sentTo('sessions.preparePublish')).toEqual([]);
  expect(await button('Push')).toHaveProperty('disabled', true);
  const repository = screen.getByLabelText('Repository');
  expect(document.activeElement).toBe(repository);
  const type = (value: string) => {
    fireEvent.change(repository, { target: { value } });
    fireEvent.blur(repository);
  };
  type('nowhere');
  await screen.findByRole('alert');
  type(prepared.url);
  await screen.findByRole('list', { name: 'Changed files' });
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
