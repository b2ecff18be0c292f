import type { ReactNode } from 'react';
import { waitFor } from '@testing-library/react';
import type { Event, SessionSummary } from '@belay/protocol';
import { SessionProvider } from '@/features/session-log/session-context';
import { renderWeb, type RenderOptions } from './render-web';
import { liveListener } from './server';
import { summaryWith } from './session-log';

interface SessionOptions extends RenderOptions {
  events?: readonly Event[];
  summary?: Partial<SessionSummary>;
}

/** Renders an element within the page of session `s`; resolves once its log is loaded. */
export async function renderSession(
  element: ReactNode,
  { events = [], summary: part, replies = {}, ...options }: SessionOptions = {},
) {
  const summary = summaryWith({ lastSeq: events.length, ...part });
  const sessions = {
    list: () => [summary],
    get: () => summary,
    events: () => [...events],
    ...replies.sessions,
  };
  const page = await renderWeb(<SessionProvider id="s">{element}</SessionProvider>, {
    ...options,
    replies: { ...replies, sessions },
  });
  const listener = await waitFor(() => liveListener('s') ?? Promise.reject(new Error('No watch.')));
  return { ...page, live: listener };
}
