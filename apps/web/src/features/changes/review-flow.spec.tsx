import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { AppError, newEvent, type NewEvent, type OperationOutput } from '@belay/protocol';
import { itLong } from '@belay/testing';
import { renderSession } from '@/testing/render-session';
import { logOf } from '@/testing/session-log';
import { ChangesPanel } from './changes-panel';
import { useReviewDrafts } from './review-drafts';
import { useResolved } from './review-threads';

const diff = `diff --git a/src/sum.ts b/src/sum.ts
--- a/src/sum.ts
+++ b/src/sum.ts
@@ -1,2 +1,2 @@
-const a = 1;
+const a = 2;
 }
@@ -10,2 +10,2 @@
 {
-return a - b;
+return a + b;
`;
const changes = (text = diff): OperationOutput<'workspace.diff'> => ({
  diff: text,
  truncated: false,
  files: [{ path: 'src/sum.ts', status: 'modified', added: 2, removed: 2, binary: false }],
});
const committed = (commit = 'c0ffee1') =>
  newEvent('agent', 'commit', {
    args: { commit, parent: 'c0ffee0', files: [{ path: 'src/sum.ts', added: 2, removed: 2 }] },
    message: 'Recorded',
    id: commit,
  });

async function show({ events = [committed()], patch = () => ({ files: [] }) as unknown } = {}) {
  useReviewDrafts.setState({ drafts: {} });
  useResolved.setState({ marks: {} });
  let now = changes();
  const sent: string[] = [];
  const page = await renderSession(<ChangesPanel />, {
    events: logOf(...(events as NewEvent[])),
    replies: {
      sessions: {
        call: ({ params }) => {
          if (params['name'] !== 'files.patch') return now;
          sent.push('patch');
          return patch();
        },
        message: () => {
          sent.push('message');
        },
      },
    },
  });
  await screen.findAllByRole('group', { name: 'Lines of src/sum.ts' });
  return { ...page, sent, become: (text: string) => (now = changes(text)) };
}
const press = (name: string, index = 0) =>
  fireEvent.click(screen.getAllByRole('button', { name })[index]!);
const write = (name: string | RegExp, value: string) =>
  fireEvent.change(screen.getByRole('textbox', { name }), { target: { value } });
const add = () => press('Add to review');

/** Rejects both changes, comments on a line, and writes an overall comment. */
function draft(): void {
  press('Reject…', 1);
  write('Reason', 'Subtract');
  add();
  press('Reject…');
  write('Reason', 'Keep 1');
  add();
  press('Comment on line 2');
  write('Comment on line 2', 'A brace?');
  add();
  write('Overall comment', 'Nearly there');
}

describe('a review', () => {
  it('is sent once as a whole: rejected changes are reverted by one patch only then', async () => {
    const { rest, sent } = await show();
    draft();
    const bar = within(screen.getByRole('toolbar', { name: 'Review' }));
    bar.getByText('1 comment and 2 rejected changes not sent yet');
    expect(sent).toEqual([]);
    press('Submit review');
    await waitFor(() => expect(sent).toEqual(['patch', 'message']));
    expect(rest.bodiesOf('sessions.call').at(-1)).toEqual({
      patch: `--- a/src/sum.ts
+++ b/src/sum.ts
@@ -1,2 +1,2 @@
-const a = 2;
+const a = 1;
 }
@@ -10,2 +10,2 @@
 {
-return a + b;
+return a - b;
`,
    });
    const [message] = rest.bodiesOf('sessions.message') as { text: string; review: object }[];
    expect(message?.text).toContain('My review of your changes:\n\nNearly there\n\n');
    expect(message?.text).toContain('`src/sum.ts`, line 11, rejected and reverted: Subtract');
    expect(message?.review).toMatchObject({
      comments: [
        { text: 'Subtract', rejected: true, quote: ['-return a - b;', '+return a + b;'] },
        { text: 'Keep 1', rejected: true },
        { text: 'A brace?', rejected: false, quote: [' }'] },
      ],
    });
    await waitFor(() => expect(screen.queryByRole('toolbar', { name: 'Review' })).toBeNull());
  });

  itLong('whose lines cannot be reverted sends nothing and stays', async () => {
    const { sent } = await show({
      patch: () => {
        throw new AppError('conflict', 'Hunk 1 does not match src/sum.ts. Read it again.');
      },
    });
    draft();
    press('Submit review');
    await screen.findByText('Hunk 1 does not match src/sum.ts. Read it again.');
    expect(sent).toEqual(['patch']);
    screen.getByText('1 comment and 2 rejected changes not sent yet');
  });

  itLong('that is too long to be sent reverts nothing', async () => {
    const { sent } = await show();
    draft();
    write('Overall comment', 'x'.repeat(200_001));
    press('Submit review');
    await screen.findByText('The review is too long to be sent. Remove some comments.');
    expect(sent).toEqual([]);
  });

  itLong('that another page has sent is no longer a draft', async () => {
    const { live } = await show();
    draft();
    const { id } = useReviewDrafts.getState().drafts['s']!;
    const args = { text: 'My review', review: { id, comments: [] } };
    act(() => {
      live.events(logOf(committed(), newEvent('user', 'message', { args, message: 'x' })).slice(1));
    });
    await waitFor(() => expect(screen.queryByRole('toolbar', { name: 'Review' })).toBeNull());
    // What is written now is a new review.
    draft();
    screen.getByText('1 comment and 2 rejected changes not sent yet');
    expect(useReviewDrafts.getState().drafts['s']?.id).not.toBe(id);
  });
});

describe('threads', () => {
  const comment = (to: number, quote: string[], text: string) => ({
    path: 'src/sum.ts',
    side: 'after' as const,
    from: to,
    to,
    quote,
    text,
  });
  const review = newEvent('user', 'message', {
    args: {
      text: 'My review',
      review: {
        id: 'one',
        comments: [comment(11, ['+return a + b;'], 'Use `sum`'), comment(7, ['+gone'], 'Why?')],
      },
    },
    message: 'My review',
  });
  const thread = (name: string) => within(screen.getByRole('region', { name }));

  it('stay on their lines, also when these move, until the lines change', async () => {
    const { live, become } = await show({ events: [committed(), review] });
    thread('Comment on line 11').getByText('sum');
    thread('Comment on line 7').getByText(/outdated/);
    become(diff.replace('+return a + b;', '+return sum(a, b);'));
    act(() => {
      live.events(logOf(committed(), review, committed('c0ffee2')).slice(2));
    });
    await waitFor(() => thread('Comment on line 11').getByText(/outdated/));
  });

  it('are resolved and reopened by the user', async () => {
    await show({ events: [committed(), review] });
    fireEvent.click(thread('Comment on line 11').getByRole('button', { name: 'Resolve' }));
    thread('Comment on line 11').getByText(/resolved/);
    expect(thread('Comment on line 11').queryByText('sum')).toBeNull();
    fireEvent.click(thread('Comment on line 11').getByRole('button', { name: 'Reopen' }));
    thread('Comment on line 11').getByText('sum');
  });

  it('of a review that was undone by a rewind are gone', async () => {
    const rewind = newEvent('user', 'rewind', {
      args: { seq: 1, what: 'conversation' },
      message: 'Rewound',
    });
    await show({ events: [committed(), review, rewind] });
    expect(screen.queryByRole('region', { name: /^Comment on/ })).toBeNull();
  });
});
