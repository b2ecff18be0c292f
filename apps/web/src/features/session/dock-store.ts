import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { onPanelRequest } from '@/lib/panel-links';
import type { PanelId } from '@/lib/panels';
import {
  activate,
  firstRegions,
  movePanel,
  openPanel,
  regionIds,
  regionOf,
  withAllPanels,
  type OpeningPanel,
  type RegionId,
  type Regions,
} from './regions';

/** How many sessions’ layouts are remembered. */
const mostSessions = 50;

interface Dock {
  /** The user’s own layout, created by moving a panel; it applies to every session. */
  own: Regions | null;
  /** Layouts by session, used while `own` is null; they open panels at their first content. */
  sessions: Readonly<Record<string, Regions>>;
  /** The panels of the current session that have content. */
  filled: readonly OpeningPanel[];
  /** The maximized region, by session; not persisted. */
  maximized: Readonly<Record<string, RegionId>>;
  /** The current session. */
  session: string;
  /** The last requested panel; a new object for each request. */
  wanted: { panel: PanelId } | null;
  show(panel: PanelId): void;
  move(panel: PanelId, to: RegionId): void;
  /** Opens a panel at its first content, unless the user has their own layout. */
  fill(panel: OpeningPanel): void;
  maximize(region: RegionId | null): void;
  visit(session: string): void;
  reset(): void;
}

type Layout = Pick<Dock, 'own' | 'sessions' | 'session'>;

/** The layout of the panels, stored in this browser. */
export const useDock = create<Dock>()(
  persist(
    (set) => ({
      own: null,
      sessions: {},
      filled: [],
      maximized: {},
      session: '',
      wanted: null,
      show: (panel) =>
        set((dock) => {
          const regions = regionsIn(dock);
          const stays = maximizedIn(dock) === regionOf(regions, panel);
          return {
            ...withRegions(dock, activate(regions, panel)),
            ...(!stays && { maximized: without(dock.maximized, dock.session) }),
            wanted: { panel },
          };
        }),
      move: (panel, to) => set((dock) => ({ own: movePanel(regionsIn(dock), panel, to) })),
      fill: (panel) =>
        set((dock) => ({
          filled: [...new Set([...dock.filled, panel])],
          ...(!dock.own && withRegions(dock, openPanel(regionsIn(dock), panel))),
        })),
      maximize: (region) =>
        set(({ maximized, session }) => ({
          maximized: region ? { ...maximized, [session]: region } : without(maximized, session),
        })),
      visit: (session) => set({ session, filled: [], wanted: null }),
      reset: () =>
        set(({ filled, session }) => ({
          own: null,
          sessions: { [session]: filled.reduce(openPanel, firstRegions) },
          maximized: {},
        })),
    }),
    {
      name: 'belay.dock',
      version: 4,
      partialize: ({ own, sessions }) => ({ own, sessions }),
      migrate: (stored) => ({ own: madeByUser((stored as { regions?: Regions }).regions) }),
      merge: (stored, dock) => {
        const { own = null, sessions = {} } = (stored ?? {}) as Partial<Dock>;
        const layouts = Object.entries(sessions).map(([id, each]) => [id, withAllPanels(each)]);
        return {
          ...dock,
          own: own && withAllPanels(own),
          sessions: Object.fromEntries(layouts) as Dock['sessions'],
        };
      },
    },
  ),
);

/** The layout of the current session. */
export const regionsIn = ({ own, sessions, session }: Layout): Regions =>
  own ?? sessions[session] ?? firstRegions;

/** The maximized region of the current session, or null. */
export const maximizedIn = ({ maximized, session }: Pick<Dock, 'maximized' | 'session'>) =>
  maximized[session] ?? null;

function withRegions({ own, sessions, session }: Layout, regions: Regions): Partial<Layout> {
  if (own) return { own: regions };
  const others = Object.entries(without(sessions, session)).slice(1 - mostSessions);
  return { sessions: { ...Object.fromEntries(others), [session]: regions } };
}

function without<T>(by: Readonly<Record<string, T>>, session: string): Record<string, T> {
  const { [session]: _, ...others } = by;
  return others;
}

/** The default layout of versions up to 3, in which all panels were open from the start. */
const formerly: Record<RegionId, string> = {
  left: 'chat',
  top: 'code changes',
  bottom: 'terminal',
  corner: 'browser usage log',
  foot: 'plan',
};

const madeByUser = (regions: Regions | undefined): Regions | null =>
  regions && regionIds.some((id) => regions[id]?.tabs.join(' ') !== formerly[id]) ? regions : null;

// Links in one panel can open another.
onPanelRequest((panel) => useDock.getState().show(panel));
