import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { ViewerLink } from '@belay/protocol';
import { renderWeb } from '@/testing/render-web';
import { summaryWith, time } from '@/testing/session-log';
import { ShareDialog } from './share-dialog';
import { askShare } from './share-request';

const link = (id: string, label: string): ViewerLink => ({
  id,
  label,
  created: time,
  expires: '2030-01-01T00:00:00Z',
  lastUsed: null,
});

it('creates a link that is shown once, lists the existing links and revokes one', async () => {
  let links = [link('old', 'For Ada')];
  const { rest } = await renderWeb(<ShareDialog />, {
    replies: {
      viewerLinks: {
        list: () => links,
        create: ({ body }) => {
          links = [link('new', body.label), ...links];
          const path = '/sessions/s?token=blt_secret';
          return { ...link('new', body.label), expires: body.expires, token: 'blt_secret', path };
        },
        revoke: ({ params }) => {
          links = links.filter(({ id }) => id !== params.link);
        },
      },
    },
  });
  act(() => askShare(summaryWith()));
  const dialog = within(await screen.findByRole('dialog', { name: 'Share this session' }));
  await dialog.findByText('For Ada');
  fireEvent.change(dialog.getByLabelText('Recipient'), { target: { value: ' The team ' } });
  fireEvent.change(dialog.getByLabelText('Valid for'), { target: { value: '1' } });
  fireEvent.click(dialog.getByRole('button', { name: 'Create link' }));
  await dialog.findByText(`${location.origin}/sessions/s?token=blt_secret`);
  const [made] = rest.bodiesOf('viewerLinks.create') as { label: string; expires: string }[];
  expect(made?.label).toBe('The team');
  const days = (Date.parse(made?.expires ?? '') - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(1);
  await dialog.findByText('The team');
  fireEvent.click(dialog.getByRole('button', { name: 'Revoke the link for For Ada' }));
  await waitFor(() => expect(dialog.queryByText('For Ada')).toBeNull());
  expect(rest.sentTo('viewerLinks.revoke').map(({ params }) => params)).toEqual([
    { id: 's', link: 'old' },
  ]);
});
