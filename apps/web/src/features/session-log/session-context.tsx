import { createContext, useContext, useEffect, useState, type ReactNode } from 'react';
import { useStore } from 'zustand';
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { LogView } from './log-view';
import { PastViews } from './past-views';
import { liveLogStore, type LiveLog, type LiveLogStore } from './live-log-store';

/** The displayed moment: the live end or a past one. */
export interface Moment {
  /** The number of the last displayed event; null at the live end. */
  at: number | null;
  view: LogView | null;
  playing: boolean;
  speed: number;
}

export interface SessionContext {
  id: string;
  log: LiveLogStore;
  moment: StoreApi<Moment>;
  past: PastViews;
}

const Context = createContext<SessionContext | null>(null);

/** Use the id as its `key`, since the context is created only once. */
export function SessionProvider({ id, children }: { id: string; children: ReactNode }) {
  const [context] = useState(() => ({
    id,
    log: liveLogStore(id),
    moment: newMoment(),
    past: new PastViews(),
  }));
  useEffect(() => context.log.open(), [context]);
  return <Context.Provider value={context}>{children}</Context.Provider>;
}

export function useSessionContext(): SessionContext {
  const context = useContext(Context);
  if (!context) throw new Error('A panel of a session was used outside of a session.');
  return context;
}

export const useSessionId = (): string => useSessionContext().id;

export function useLog<T>(select: (log: LiveLog) => T): T {
  return useStore(useSessionContext().log, select);
}

export function useMoment<T>(select: (moment: Moment) => T): T {
  return useStore(useSessionContext().moment, select);
}

/**
 * Selects from the view the panels show: of the live log, or of the log at the displayed moment.
 */
export function useView<T>(select: (view: LogView) => T): T {
  const past = useMoment((moment) => moment.view);
  return useLog((log) => select(past ?? log.view));
}

/** Whether a past moment is displayed, in which case panels are read-only. */
export const useIsPast = (): boolean => useMoment((moment) => moment.at !== null);

/** Shows the log as of event `at`; null returns to the live end. */
export function lookAt({ log, moment, past }: SessionContext, at: number | null): void {
  if (at === null) return moment.setState({ at: null, view: null, playing: false });
  const { events, first } = log.getState();
  moment.setState({ at, view: past.of(events, Math.max(0, at - first + 1)) });
}

const newMoment = (): StoreApi<Moment> =>
  createStore<Moment>()(() => ({ at: null, view: null, playing: false, speed: 1 }));
