import { create } from 'zustand';
import { persist } from 'zustand/middleware';

export const panelIds = [
  'chat',
  'code',
  'changes',
  'terminal',
  'browser',
  'plan',
  'usage',
  'log',
] as const;
export type PanelId = (typeof panelIds)[number];

export const regionIds = ['left', 'top', 'bottom', 'corner', 'foot'] as const;
export type RegionId = (typeof regionIds)[number];

export interface Region {
  tabs: PanelId[];
  active: PanelId | null;
}
export type Regions = Record<RegionId, Region>;

export const defaultRegions: Regions = {
  left: { tabs: ['chat'], active: 'chat' },
  top: { tabs: ['code', 'changes'], active: 'code' },
  bottom: { tabs: ['terminal'], active: 'terminal' },
  corner: { tabs: ['browser', 'usage', 'log'], active: 'browser' },
  foot: { tabs: ['plan'], active: 'plan' },
};

interface Dock {
  regions: Regions;
  maximized: RegionId | null;
  /** The panel that was asked for last; each time is another object. */
  wanted: { panel: PanelId } | null;
  show(panel: PanelId): void;
  move(panel: PanelId, to: RegionId): void;
  maximize(region: RegionId | null): void;
  reset(): void;
}

/** Which panel is where; remembered on this machine. */
export const useDock = create<Dock>()(
  persist(
    (set) => ({
      regions: defaultRegions,
      maximized: null,
      wanted: null,
      show: (panel) =>
        set(({ regions, maximized }) => {
          const region = regionOf(regions, panel);
          return {
            regions: activate(regions, panel),
            maximized: maximized && maximized !== region ? null : maximized,
            wanted: { panel },
          };
        }),
      move: (panel, to) => set(({ regions }) => ({ regions: movePanel(regions, panel, to) })),
      maximize: (region) => set({ maximized: region }),
      reset: () => set({ regions: defaultRegions, maximized: null }),
    }),
    {
      name: 'belay.dock',
      version: 2,
      partialize: ({ regions, maximized }) => ({ regions, maximized }),
    },
  ),
);

export const regionOf = (regions: Regions, panel: PanelId): RegionId =>
  regionIds.find((id) => regions[id].tabs.includes(panel)) ?? 'top';

/** Moves a panel to the end of a region and shows it there; the region it leaves shows its neighbour. */
export function movePanel(regions: Regions, panel: PanelId, to: RegionId): Regions {
  const from = regionOf(regions, panel);
  if (from === to) return activate(regions, panel);
  const left = regions[from].tabs.filter((tab) => tab !== panel);
  const active = regions[from].active === panel ? (left.at(-1) ?? null) : regions[from].active;
  return {
    ...regions,
    [from]: { tabs: left, active },
    [to]: { tabs: [...regions[to].tabs, panel], active: panel },
  };
}

function activate(regions: Regions, panel: PanelId): Regions {
  const region = regionOf(regions, panel);
  return { ...regions, [region]: { ...regions[region], active: panel } };
}
