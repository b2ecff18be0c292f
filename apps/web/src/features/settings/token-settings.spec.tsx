import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { TokenInfo } from '@belay/protocol';
import { QuestionDialog } from '@/components/ui/question-dialog';
import { renderWeb } from '@/testing/render-web';
import { TokenSettings } from './token-settings';

const token = (part: Partial<TokenInfo> = {}): TokenInfo => ({
  id: 't1',
  label: 'Release script',
  scope: 'operate',
  sessions: 'own',
  created: '2026-01-01T00:00:00Z',
  expires: null,
  lastUsed: null,
  ...part,
});

/** Renders the page with a server that stores the tokens. */
const show = (tokens: TokenInfo[] = []) =>
  renderWeb(
    <>
      <TokenSettings />
      <QuestionDialog />
    </>,
    {
      replies: {
        tokens: {
          list: () => [...tokens],
          create: ({ body }) => {
            const made = token({ ...body, id: 'made' });
            tokens.unshift(made);
            return { ...made, token: 'blt_secret' };
          },
          rotate: () => ({ ...token(), token: 'blt_other' }),
          revoke: ({ params }) => {
            tokens.splice(
              tokens.findIndex(({ id }) => id === params.token),
              1,
            );
          },
        },
      },
    },
  );
const click = async (name: string) => fireEvent.click(await screen.findByRole('button', { name }));

describe('the tokens', () => {
  it('are created with scope, sessions and expiry, and shown once', async () => {
    const { rest } = await show();
    await screen.findByText('No tokens');
    await click('Create token');
    fireEvent.change(screen.getByLabelText(/^Label/), { target: { value: 'A GPT' } });
    fireEvent.click(screen.getByRole('radio', { name: 'Operate' }));
    fireEvent.change(screen.getByLabelText(/^Sessions/), { target: { value: 'some' } });
    fireEvent.change(screen.getByLabelText(/^Session ids/), { target: { value: 'a-1, b*' } });
    fireEvent.change(screen.getByLabelText(/^Expires/), { target: { value: 'never' } });
    await click('Create token');
    await screen.findByText('blt_secret');
    expect(rest.bodiesOf('tokens.create')).toEqual([
      { label: 'A GPT', scope: 'operate', sessions: ['a-1', 'b*'], expires: null },
    ]);
    await click('Done');
    expect(screen.queryByText('blt_secret')).toBeNull();
    within(screen.getByRole('list', { name: 'Tokens' })).getByText('A GPT');
  });

  it('with the admin scope are for all sessions', async () => {
    const { rest } = await show();
    await click('Create token');
    fireEvent.change(screen.getByLabelText(/^Label/), { target: { value: 'Ops' } });
    fireEvent.change(screen.getByLabelText(/^Sessions/), { target: { value: 'own' } });
    fireEvent.click(screen.getByRole('radio', { name: 'Admin' }));
    await click('Create token');
    await screen.findByText('blt_secret');
    expect(rest.bodiesOf('tokens.create')).toMatchObject([{ scope: 'admin', sessions: 'all' }]);
  });

  it('can be revoked after a confirmation, and replaced', async () => {
    const { rest } = await show([token(), token({ id: 't2', label: 'Old laptop' })]);
    await click('Revoke Old laptop');
    await click('Cancel');
    expect(rest.sentTo('tokens.revoke')).toEqual([]);
    await click('Revoke Old laptop');
    await click('Revoke token');
    await waitFor(() => expect(screen.queryByText('Old laptop')).toBeNull());
    expect(rest.sentTo('tokens.revoke')).toMatchObject([{ params: { token: 't2' } }]);
    await click('Replace secret of Release script');
    await click('Replace secret');
    await screen.findByText('blt_other');
  });
});
