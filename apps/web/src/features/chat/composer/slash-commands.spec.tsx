import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { QuestionDialog } from '@/components/ui/question-dialog';
import { useSummary } from '@/lib/summaries';
import { renderSession } from '@/testing/render-session';
import { summaryWith } from '@/testing/session-log';
import { runSlashCommand } from './slash-commands';

function Page() {
  const summary = useSummary('s');
  return (
    <>
      {summary?.state}
      <QuestionDialog />
    </>
  );
}

const show = async () => {
  const page = await renderSession(<Page />, {
    summary: { state: 'running' },
    replies: { sessions: { stop: () => undefined, change: () => summaryWith({ id: 's' }) } },
  });
  await screen.findByText('running');
  return page;
};

const run = (text: string) => act(async () => void runSlashCommand('s', text));

const dialog = async () =>
  within(await screen.findByRole('dialog', { name: 'Stop this session?' }));

describe('slash commands', () => {
  it('stop the session only after the user confirms', async () => {
    const { rest } = await show();
    await run('/stop');
    fireEvent.click((await dialog()).getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(rest.sentTo('sessions.stop')).toEqual([]);
    await run('/stop');
    fireEvent.click((await dialog()).getByRole('button', { name: 'Stop' }));
    await waitFor(() => expect(rest.sentTo('sessions.stop')).toHaveLength(1));
  });

  it.each(['plan', 'safe', 'ask', 'delay', 'rules', 'auto'])(
    '/%s chooses how calls are approved',
    async (mode) => {
      const { rest } = await show();
      await run(`/${mode}`);
      await waitFor(() => expect(rest.bodiesOf('sessions.change')).toEqual([{ approvals: mode }]));
    },
  );

  it('are treated as messages if they are unknown', async () => {
    await show();
    expect(await runSlashCommand('s', '/constructor')).toBe(false);
  });
});
