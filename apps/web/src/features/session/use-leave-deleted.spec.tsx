import { act, screen, waitFor } from '@testing-library/react';
import { queryClient } from '@/lib/query-client';
import { sessionsQuery, useFleetUpdates } from '@/lib/summaries';
import { renderSession } from '@/testing/render-session';
import { summaryWith } from '@/testing/session-log';
import { SessionHeader } from './session-header';
import { useLeaveDeleted } from './use-leave-deleted';

function Page() {
  useFleetUpdates();
  useLeaveDeleted();
  return <SessionHeader />;
}

it('leaves the page of a session that is deleted, and says so', async () => {
  const summary = { id: 's', title: 'Fix the sum' };
  const { pathname } = await renderSession(<Page />, { path: '/sessions/s', summary });
  await screen.findByText('Fix the sum');
  const others = [summaryWith({ id: 't' })];
  act(() => {
    queryClient.setQueryData(sessionsQuery.queryKey, [summaryWith(summary), ...others]);
  });
  expect(pathname()).toBe('/sessions/s');
  act(() => {
    queryClient.setQueryData(sessionsQuery.queryKey, others);
  });
  await waitFor(() => expect(pathname()).toBe('/'));
});
