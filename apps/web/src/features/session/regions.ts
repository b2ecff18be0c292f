import { panelIds, type PanelId } from '@/lib/panels';

export const regionIds = ['left', 'top', 'bottom', 'corner', 'foot'] as const;
export type RegionId = (typeof regionIds)[number];

interface RegionState {
  tabs: PanelId[];
  active: PanelId | null;
}
export type Regions = Record<RegionId, RegionState>;

/** The initial layout: the chat, and all other panels in the `top` region. */
export const firstRegions: Regions = {
  left: { tabs: ['chat'], active: 'chat' },
  top: { tabs: panelIds.filter((panel) => panel !== 'chat'), active: 'code' },
  bottom: { tabs: [], active: null },
  corner: { tabs: [], active: null },
  foot: { tabs: [], active: null },
};

/** The regions to which panels move from `top` at their first content. */
const ownRegions = { terminal: 'bottom', browser: 'corner', plan: 'foot' } as const;
export type OpeningPanel = keyof typeof ownRegions;

/** Moves a panel with its first content out of `top`, unless it is the active one there. */
export function openPanel(regions: Regions, panel: OpeningPanel): Regions {
  const from = regionOf(regions, panel);
  return from !== 'top' || regions.top.active === panel
    ? regions
    : movePanel(regions, panel, ownRegions[panel]);
}

export const regionOf = (regions: Regions, panel: PanelId): RegionId =>
  regionIds.find((id) => regions[id].tabs.includes(panel)) ?? 'top';

/**
 * Moves a panel to the end of a region and activates it. The region it leaves activates its last
 * panel.
 */
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

export function activate(regions: Regions, panel: PanelId): Regions {
  const region = regionOf(regions, panel);
  return { ...regions, [region]: { ...regions[region], active: panel } };
}

/** Adapts a layout stored by another version of Belay: drops removed panels and adds new ones. */
export function withAllPanels(stored: Partial<Regions>): Regions {
  const kept = (id: RegionId): RegionState => ({
    tabs: stored[id]?.tabs.filter((tab) => panelIds.includes(tab)) ?? [],
    active: stored[id]?.active ?? null,
  });
  const placed = new Set(regionIds.flatMap((id) => kept(id).tabs));
  const fresh = panelIds.filter((panel) => !placed.has(panel));
  return {
    left: kept('left'),
    top: { ...kept('top'), tabs: [...kept('top').tabs, ...fresh] },
    bottom: kept('bottom'),
    corner: kept('corner'),
    foot: kept('foot'),
  };
}
