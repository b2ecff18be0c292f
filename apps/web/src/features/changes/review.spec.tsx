import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { QuestionDialog } from '@/components/ui/question-dialog';
import { usePreferences } from '@/lib/preferences';
import { renderSession } from '@/testing/render-session';
import { parseDiff } from './diff';
import { HunkLines } from './hunk-lines';
import { ReviewBar } from './review-bar';
import { useReviewDrafts } from './review-drafts';

const diff = `diff --git a/src/sum.ts b/src/sum.ts
--- a/src/sum.ts
+++ b/src/sum.ts
@@ -1,3 +1,4 @@
 export function sum(a, b) {
-  return a - b;
+  return a + b;
+  // added
 }
`;
const lines = parseDiff(diff)[0]?.hunks[0]?.lines ?? [];

const show = () => {
  useReviewDrafts.setState({ drafts: {} });
  return renderSession(
    <>
      <HunkLines path="src/sum.ts" lines={lines} decides />
      <ReviewBar />
      <QuestionDialog />
    </>,
    { replies: { sessions: { message: () => undefined } } },
  );
};
const press = async (name: string | RegExp, keys = {}) =>
  fireEvent.click(await screen.findByRole('button', { name }), keys);
const comment = (text: string) => {
  fireEvent.change(screen.getByRole('textbox', { name: /^Comment on/ }), {
    target: { value: text },
  });
  fireEvent.click(screen.getByRole('button', { name: 'Add to review' }));
};

describe('a review', () => {
  it('is drafted on lines and ranges, and sent as one message that answers no question', async () => {
    const { rest } = await show();
    fireEvent.click((await screen.findAllByRole('button', { name: 'Comment on line 2' }))[1]!);
    await press('Comment on line 3', { shiftKey: true });
    screen.getByRole('textbox', { name: 'Comment on lines 2 to 3' });
    comment(' No comment, please ');
    await press('Comment on line 1');
    comment('Add types');
    await press('Comment on line 4');
    comment('Nothing');
    const last = screen.getByText('Nothing').closest('div')!;
    fireEvent.click(within(last).getByRole('button', { name: 'Remove the comment' }));
    expect(rest.sentTo('sessions.message')).toEqual([]);
    within(screen.getByRole('toolbar', { name: 'Review' })).getByText('2 comments not sent yet');
    await press('Submit review');
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.message')).toEqual([
        {
          review: {
            id: expect.any(String) as string,
            comments: [
              expect.objectContaining({ to: 3, text: 'No comment, please', rejected: false }),
              expect.objectContaining({ to: 1, text: 'Add types' }),
            ],
          },
          text: 'My review of your changes:\n\n`src/sum.ts`, line 1: Add types\n\n```diff\n export function sum(a, b) {\n```\n\n`src/sum.ts`, lines 2 to 3: No comment, please\n\n```diff\n+  return a + b;\n+  // added\n```',
        },
      ]),
    );
    await waitFor(() => expect(screen.queryByRole('toolbar', { name: 'Review' })).toBeNull());
  });

  it('is discarded only after the user confirms', async () => {
    await show();
    await press('Comment on line 1');
    comment('Add types');
    await press('Discard…');
    const dialog = within(await screen.findByRole('dialog', { name: 'Discard the review?' }));
    fireEvent.click(dialog.getByRole('button', { name: 'Discard' }));
    await waitFor(() => expect(screen.queryByText('Add types')).toBeNull());
  });

  it('marks the words that differ, unified and side by side', async () => {
    await show();
    const marked = () => [...document.querySelectorAll('mark')].map((each) => each.textContent);
    await screen.findByText('// added', { exact: false });
    expect(marked()).toEqual(['-', '+']);
    act(() => {
      usePreferences.setState({ splitDiff: true });
    });
    expect(marked()).toEqual(['-', '+']);
    await press('Comment on line 3');
    comment('Why?');
    await screen.findByText('Why?', { exact: false });
  });
});
