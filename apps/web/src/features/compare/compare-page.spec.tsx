import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { Comparison, SessionSummary } from '@belay/protocol';
import { QuestionDialog } from '@/components/ui/question-dialog';
import { usePublishRequest } from '@/features/session-controls/publish-request';
import { renderWeb, type RenderOptions } from '@/testing/render-web';
import type { RestReplies } from '@/testing/rest-stub';
import { summaryWith, time } from '@/testing/session-log';
import { ComparisonView } from './compare-page';

const check = { command: 'npm test', reason: null, seconds: 2, seq: 9 };
const sessions = [
  summaryWith({
    id: 'a',
    model: 'openai:small',
    state: 'finished',
    dollars: 0.5,
    steps: 7,
    comparison: 'c',
    check: { ...check, state: 'ended', exitCode: 0 },
  }),
  summaryWith({
    id: 'b',
    model: 'google:large',
    comparison: 'c',
    check: { ...check, state: 'waiting', exitCode: null, seconds: null, seq: null },
  }),
];
const compared = (part: Partial<Comparison> = {}): Comparison => ({
  id: 'c',
  created: time,
  task: 'Fix it',
  check: 'npm test',
  sessions,
  failed: [],
  kept: null,
  ...part,
});
const patch = new TextEncoder().encode(
  'diff --git a/sum.ts b/sum.ts\n--- a/sum.ts\n+++ b/sum.ts\n@@ -1 +1,2 @@\n-old\n+new\n+more\n',
);

const show = (
  comparison: Comparison,
  {
    comparisons = {},
    ...options
  }: Omit<RenderOptions, 'replies'> & { comparisons?: RestReplies['comparisons'] } = {},
) =>
  renderWeb(
    <>
      <ComparisonView id="c" />
      <QuestionDialog />
    </>,
    {
      path: '/compare/c',
      replies: {
        comparisons: { get: () => comparison, ...comparisons },
        sessions: {
          list: () => comparison.sessions as SessionSummary[],
          patch: ({ params }) => (params.id === 'a' ? patch : new Uint8Array()),
        },
      },
      ...options,
    },
  );
const column = async (name: string) => within(await screen.findByRole('region', { name }));

afterEach(() => usePublishRequest.setState({ session: null }));

describe('the comparison page', () => {
  it('shows the state, figures, check and changes of each session side by side', async () => {
    await show(compared());
    const a = await column('openai:small');
    a.getByText('finished');
    a.getByText('$0.50');
    a.getByText('7');
    a.getByText(/passed, exit code 0/);
    await a.findByText('1 file');
    a.getByText('sum.ts');
    a.getByText('more');
    const b = await column('google:large');
    b.getByText('running');
    b.getByText('at the end');
    await b.findByText('No files changed.');
  });

  it('numbers the runs of one model and lists sessions that failed to start', async () => {
    const same = sessions.map((session) => ({ ...session, model: 'openai:small' }));
    const failed = [{ agent: 'belay', model: 'google:large', error: 'There is no key.' }];
    await show(compared({ sessions: same, failed }));
    await column('openai:small (run 1)');
    await column('openai:small (run 2)');
    expect(screen.getByRole('alert').textContent).toContain('There is no key.');
  });

  it('names the agent of each session beside its model', async () => {
    const agent = { name: 'codex', version: '1.0.0', protocol: 'acp' as const };
    const [one, other] = sessions;
    const mixed = [{ ...one, agent }, other].filter((session) => session !== undefined);
    const failed = [{ agent: 'mine', model: 'openai:small', error: 'There is no key.' }];
    await show(compared({ sessions: mixed as SessionSummary[], failed }));
    await column('codex · openai:small');
    await column('belay · google:large');
    expect(screen.getByRole('alert').textContent).toContain('mine · openai:small was not started');
    screen.getByRole('button', { name: 'Keep codex · openai:small' });
  });

  it('keeps one session after a confirmation, asks where to publish its changes, and can undo that', async () => {
    const others = [{ session: 'b', stopped: true, archived: true }];
    const kept = compared({ kept: { session: 'a', others } });
    const { rest } = await show(compared(), {
      comparisons: { keep: () => kept, undo: () => compared() },
    });
    fireEvent.click(await screen.findByRole('button', { name: 'Keep openai:small' }));
    const dialog = within(await screen.findByRole('dialog'));
    dialog.getByText('google:large: stopped and archived');
    await act(async () => fireEvent.click(dialog.getByRole('button', { name: 'Keep this one' })));
    await screen.findByText('openai:small is kept.');
    expect(rest.bodiesOf('comparisons.keep')).toEqual([{ session: 'a' }]);
    await waitFor(() => expect(usePublishRequest.getState().session?.id).toBe('a'));
    const a = await column('openai:small');
    a.getByRole('button', { name: 'Publish changes' });
    a.getByRole('link', { name: 'Continue this session' });
    expect(screen.queryByRole('button', { name: 'Keep google:large' })).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(screen.queryByText('openai:small is kept.')).toBeNull());
    expect(rest.sentTo('comparisons.undo')).toHaveLength(1);
  });

  it('keeps a running session without asking where to publish its changes', async () => {
    const kept = compared({ kept: { session: 'b', others: [] } });
    await show(compared(), { comparisons: { keep: () => kept } });
    fireEvent.click(await screen.findByRole('button', { name: 'Keep google:large' }));
    const dialog = within(await screen.findByRole('dialog'));
    dialog.getByText(/^openai:small: archived$/);
    await act(async () => fireEvent.click(dialog.getByRole('button', { name: 'Keep this one' })));
    await screen.findByText('google:large is kept.');
    expect(usePublishRequest.getState().session).toBeNull();
  });

  it('offers a viewer no actions', async () => {
    await show(compared({ kept: { session: 'a', others: [] } }), { role: 'viewer' });
    await screen.findByText('openai:small is kept.');
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull());
    expect(screen.queryByRole('button', { name: /^Run/ })).toBeNull();
  });
});
