import { fireEvent, screen, waitFor } from '@testing-library/react';
import { AppError } from '@belay/protocol';
import { renderSession } from '@/testing/render-session';
import { BrowserPanel } from './browser-panel';

type Replies = NonNullable<Parameters<typeof renderSession>[1]>['replies'];

const origin = 'http://p-s-5173.localhost:4600';
const servedOn = (ports: number[]): NonNullable<Replies> => {
  let tickets = 0;
  return {
    sessions: {
      call: () => ({ ports }),
      preview: () => ({ url: `${origin}/.belay/open?ticket=${(tickets += 1)}`, origin }),
    },
  };
};
const frame = () => screen.findByTitle<HTMLIFrameElement>('Preview of port 5173');

describe('the preview of a server in the sandbox', () => {
  it('has a frame with few permissions, and gets a new ticket for each reload', async () => {
    await renderSession(<BrowserPanel />, { replies: servedOn([5173, 8080]) });
    fireEvent.click(await screen.findByRole('radio', { name: 'Preview' }));
    const shown = await frame();
    expect(shown.src).toBe(`${origin}/.belay/open?ticket=1`);
    expect(shown.getAttribute('sandbox')).not.toMatch(/top-navigation|popups/);
    fireEvent.click(screen.getByRole('button', { name: 'Reload' }));
    await waitFor(async () => expect((await frame()).src).toBe(`${origin}/.belay/open?ticket=2`));
    fireEvent.change(screen.getByLabelText('Size'), { target: { value: 'phone' } });
    expect((await frame()).style.width).toBe('390px');
  });

  it('opens a path as it is typed, but never on another host', async () => {
    const { rest } = await renderSession(<BrowserPanel />, { replies: servedOn([5173]) });
    fireEvent.click(await screen.findByRole('radio', { name: 'Preview' }));
    await frame();
    const field = screen.getByLabelText('Path');
    fireEvent.change(field, { target: { value: '//evil.example/a b%20c?d=1' } });
    fireEvent.submit(field);
    await waitFor(() => expect(rest.bodiesOf('sessions.preview')).toHaveLength(2));
    expect(rest.bodiesOf('sessions.preview').at(-1)).toEqual({
      port: 5173,
      path: '/evil.example/a%20b%20c?d=1',
    });
  });

  it('shows that no server is running', async () => {
    await renderSession(<BrowserPanel />, { replies: servedOn([]) });
    fireEvent.click(await screen.findByRole('radio', { name: 'Preview' }));
    await screen.findByText('No server is running');
  });

  it('offers to start the sandbox of an ended session', async () => {
    const call = () => {
      throw new AppError('conflict', 'There is no sandbox.');
    };
    const summary = { state: 'finished' } as const;
    await renderSession(<BrowserPanel />, {
      summary,
      replies: { sessions: { call } },
    });
    fireEvent.click(await screen.findByRole('radio', { name: 'Preview' }));
    await screen.findByRole('button', { name: 'Start sandbox' });
  });
});
