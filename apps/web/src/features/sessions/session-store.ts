import { createStore, type StoreApi } from 'zustand/vanilla';
import { errorFrom, isFact, type AppError, type Event } from '@belay/protocol';
import type { BrowserFrame, Watch } from '@belay/client';
import { client, live } from '@/lib/server';
import { perFrame } from '@/lib/per-frame';
import { emptyView, joinViews, viewOf, type LogView } from './log-view';
import { TerminalBuffer } from './terminal-bytes';

export interface SessionLog {
  status: 'loading' | 'ready' | 'refused';
  error: AppError | null;
  /** A stretch of the log without gap, up to its end; older pages arrive after the newest. */
  events: readonly Event[];
  view: LogView;
  /** The number of the first event that is here: 1 when all of it is. */
  first: number;
  /** A reply that is being written. */
  draft: { text: string; reasoning: string } | null;
  frame: BrowserFrame | null;
  terminals: ReadonlyMap<string, TerminalBuffer>;
}

export interface SessionStore extends StoreApi<SessionLog> {
  /** Begins to load and to follow; answers what ends it. */
  open(): () => void;
}

const newest = 400;
const olderPage = 2_000;

/** One session's log: its newest page first, then live, then what is older while nothing else happens. */
export function sessionStore(id: string): SessionStore {
  const store = createStore<SessionLog>()(() => ({
    status: 'loading',
    error: null,
    events: [],
    view: emptyView,
    first: 1,
    draft: null,
    frame: null,
    terminals: new Map(),
  }));
  const open = () => {
    const closing = new AbortController();
    load(id, store, closing.signal).catch((error: unknown) =>
      store.setState({ status: 'refused', error: errorFrom(error) }),
    );
    return () => closing.abort();
  };
  return { ...store, open };
}

async function load(id: string, store: StoreApi<SessionLog>, closing: AbortSignal): Promise<void> {
  const { lastSeq } = await client.sessions.get(id);
  const after = Math.max(0, lastSeq - newest);
  const events = await client.sessions.events(id, { after, limit: newest });
  if (closing.aborted) return;
  store.setState({ status: 'ready', events, view: viewOf(events), first: after + 1 });
  const watch = follow(id, store, after + events.length);
  closing.addEventListener('abort', () => watch.close());
  await loadOlder(id, store, closing);
}

function follow(id: string, store: StoreApi<SessionLog>, after: number): Watch {
  const append = perFrame<Event>((fresh) => {
    const { events, view, draft } = store.getState();
    store.setState({
      events: events.concat(fresh),
      view: joinViews(view, viewOf(fresh)),
      draft: fresh.some(endsDraft) ? null : draft,
    });
  });
  const write = perFrame<{ kind: 'text' | 'reasoning'; text: string }>((deltas) => {
    const draft = { ...(store.getState().draft ?? { text: '', reasoning: '' }) };
    for (const { kind, text } of deltas) draft[kind] += text;
    store.setState({ draft });
  });
  return live().watch(
    id,
    {
      events: (events) => events.forEach((event) => append(event)),
      delta: (kind, text) => write({ kind, text }),
      terminal: ({ terminal, offset, bytes }) => bufferOf(store, terminal).add(offset, bytes),
      frame: (frame) => store.setState({ frame }),
      refused: (error) => store.setState({ status: 'refused', error }),
    },
    { after },
  );
}

/** Pages backward to the beginning, giving way to drawing between pages. */
async function loadOlder(
  id: string,
  store: StoreApi<SessionLog>,
  closing: AbortSignal,
): Promise<void> {
  while (store.getState().first > 1 && !closing.aborted) {
    const { first } = store.getState();
    const after = Math.max(0, first - 1 - olderPage);
    const page = await client.sessions
      .events(id, { after, limit: first - 1 - after })
      .catch(() => null);
    if (closing.aborted) return;
    if (page) {
      const { events, view } = store.getState();
      const older = viewOf(page);
      store.setState({
        events: page.concat(events),
        view: joinViews(older, view),
        first: after + 1,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, page ? 30 : 2_000));
  }
}

const endsDraft = (event: Event): boolean =>
  isFact(event, 'say') || isFact(event, 'retry') || isFact(event, 'state');

function bufferOf(store: StoreApi<SessionLog>, terminal: string): TerminalBuffer {
  const { terminals } = store.getState();
  const known = terminals.get(terminal);
  if (known) return known;
  const buffer = new TerminalBuffer();
  store.setState({ terminals: new Map(terminals).set(terminal, buffer) });
  return buffer;
}
