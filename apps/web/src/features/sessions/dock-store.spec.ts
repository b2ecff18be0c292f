/** @jest-environment node */
import { defaultRegions, movePanel, regionIds, panelIds } from './dock-store';

describe('movePanel', () => {
  it('shows the panel where it went and a neighbour where it was', () => {
    const moved = movePanel(defaultRegions, 'code', 'bottom');
    expect(moved.bottom).toEqual({ tabs: ['terminal', 'code'], active: 'code' });
    expect(moved.top).toEqual({ tabs: ['changes'], active: 'changes' });
  });

  it('leaves a region empty when its last panel goes', () => {
    expect(movePanel(defaultRegions, 'chat', 'corner').left).toEqual({ tabs: [], active: null });
  });

  it('never loses or doubles a panel', () => {
    let regions = defaultRegions;
    panelIds.forEach((panel, index) => {
      regions = movePanel(regions, panel, regionIds[index % regionIds.length] ?? 'left');
    });
    const all = regionIds.flatMap((id) => regions[id].tabs);
    expect(all.toSorted()).toEqual([...panelIds].toSorted());
  });
});
