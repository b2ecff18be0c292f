import { createStore, type StoreApi } from 'zustand/vanilla';
import { errorFrom, isEvent, type AppError, type Event } from '@belay/protocol';
import type { BrowserFrame, Watch } from '@belay/client';
import { perFrame } from '@/lib/per-frame';
import { client, live } from '@/lib/server';
import { emptyView, joinViews, viewOf, type LogView } from './log-view';
import { TerminalBuffer } from './terminal-buffer';

export interface LiveLog {
  status: 'loading' | 'ready' | 'refused';
  error: AppError | null;
  /** A contiguous section up to the end of the log. The newest page is loaded first. */
  events: readonly Event[];
  view: LogView;
  /** The number of the first loaded event; 1 once the whole log is loaded. */
  first: number;
  /** The model’s reply while it streams. */
  partialReply: { text: string; reasoning: string } | null;
  frame: BrowserFrame | null;
  /** The progress of copying the workspace into the sandbox while the session starts, in bytes. */
  copied: { done: number; total: number | null } | null;
  terminals: ReadonlyMap<string, TerminalBuffer>;
  /** The end of each running action’s output, by call; only of the last few that printed. */
  outputs: ReadonlyMap<string, string>;
}

export interface LiveLogStore extends StoreApi<LiveLog> {
  /** Starts loading and following the log. Returns a function that stops it. */
  open(): () => void;
}

const newest = 400;
const olderPage = 2_000;
const longestOutput = 4_000;
const mostOutputs = 10;

/**
 * The log of a session: loads the newest page, follows it live, and loads older pages in the
 * background.
 */
export function liveLogStore(id: string): LiveLogStore {
  const store = createStore<LiveLog>()(() => ({
    status: 'loading',
    error: null,
    events: [],
    view: emptyView,
    first: 1,
    partialReply: null,
    frame: null,
    copied: null,
    terminals: new Map(),
    outputs: new Map(),
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

async function load(id: string, store: StoreApi<LiveLog>, closing: AbortSignal): Promise<void> {
  const { lastSeq } = await client.sessions.get(id);
  const after = Math.max(0, lastSeq - newest);
  const events = await client.sessions.events(id, { after, limit: newest });
  if (closing.aborted) return;
  store.setState({ status: 'ready', events, view: viewOf(events), first: after + 1 });
  const watch = follow(id, store, after + events.length);
  closing.addEventListener('abort', () => watch.close());
  await loadOlder(id, store, closing);
}

type Delta = { kind: 'text' | 'reasoning'; text: string };

function follow(id: string, store: StoreApi<LiveLog>, after: number): Watch {
  // Events and deltas share a queue to keep their order: an event ends only the reply before it.
  const take = perFrame<Event | Delta>((updates) => {
    const { events, view, partialReply } = store.getState();
    const fresh = updates.filter((update): update is Event => !isDelta(update));
    const ends = fresh.some((event) => isEvent(event, 'state'));
    store.setState({
      partialReply: updates.reduce(replyAfter, partialReply),
      ...(fresh.length > 0 && {
        events: events.concat(fresh),
        view: joinViews(view, viewOf(fresh)),
      }),
      ...(ends && { copied: null }),
    });
  });
  return live().watch(
    id,
    {
      events: (events) => events.forEach((event) => take(event)),
      delta: (kind, text) => take({ kind, text }),
      terminal: ({ terminal, offset, bytes }) => bufferOf(store, terminal).add(offset, bytes),
      copied: (done, total) => store.setState({ copied: { done, total } }),
      frame: (frame) => store.setState({ frame }),
      output: (call, text) => {
        const { outputs } = store.getState();
        const printed = `${outputs.get(call) ?? ''}${text}`.slice(-longestOutput);
        const others = [...outputs].filter(([other]) => other !== call).slice(1 - mostOutputs);
        store.setState({ outputs: new Map([...others, [call, printed]]) });
      },
      refused: (error) => store.setState({ status: 'refused', error }),
    },
    { after },
  );
}

const isDelta = (update: Event | Delta): update is Delta => 'kind' in update;

function replyAfter(
  reply: LiveLog['partialReply'],
  update: Event | Delta,
): LiveLog['partialReply'] {
  if (!isDelta(update)) return endsReply(update) ? null : reply;
  const { text, reasoning } = reply ?? { text: '', reasoning: '' };
  return update.kind === 'text'
    ? { text: text + update.text, reasoning }
    : { text, reasoning: reasoning + update.text };
}

/** Loads older pages back to the beginning, with pauses for rendering. */
async function loadOlder(
  id: string,
  store: StoreApi<LiveLog>,
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

const endsReply = (event: Event): boolean =>
  isEvent(event, 'say') ||
  isEvent(event, 'retry') ||
  isEvent(event, 'state') ||
  (isEvent(event, 'message') && event.args.delivery === 'steer');

function bufferOf(store: StoreApi<LiveLog>, terminal: string): TerminalBuffer {
  const { terminals } = store.getState();
  const known = terminals.get(terminal);
  if (known) return known;
  const buffer = new TerminalBuffer();
  store.setState({ terminals: new Map(terminals).set(terminal, buffer) });
  return buffer;
}
