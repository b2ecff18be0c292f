import { panelIds } from '../../lib/panels';
import { maximizedIn, regionsIn, useDock } from './dock-store';
import { firstRegions, movePanel, regionIds, regionOf, withAllPanels } from './regions';

const opened = movePanel(firstRegions, 'terminal', 'bottom');

describe('movePanel', () => {
  it('activates the panel in its new region and another in the old one', () => {
    const moved = movePanel(opened, 'code', 'bottom');
    expect(moved.bottom).toEqual({ tabs: ['terminal', 'code'], active: 'code' });
    expect(moved.top.tabs).not.toContain('code');
    expect(moved.top.active).toBe(moved.top.tabs.at(-1));
  });

  it('leaves a region empty when its last panel moves away', () => {
    expect(movePanel(firstRegions, 'chat', 'corner').left).toEqual({ tabs: [], active: null });
  });

  it('never loses or duplicates a panel', () => {
    let regions = firstRegions;
    panelIds.forEach((panel, index) => {
      regions = movePanel(regions, panel, regionIds[index % regionIds.length] ?? 'left');
    });
    const all: string[] = regionIds.flatMap((id) => regions[id].tabs);
    expect(all.toSorted()).toEqual([...panelIds].toSorted());
  });
});

describe('a maximized panel', () => {
  const shown = () => maximizedIn(useDock.getState());

  it('belongs to its session, and is restored when another panel is requested', () => {
    const { visit, maximize, show } = useDock.getState();
    visit('one');
    maximize('bottom');
    visit('two');
    expect(shown()).toBeNull();
    visit('one');
    expect(shown()).toBe('bottom');
    show('chat');
    expect(shown()).toBeNull();
  });
});

describe('the first layout of a session', () => {
  beforeEach(() => useDock.setState({ own: null, sessions: {}, filled: [], maximized: {} }));
  const dock = () => useDock.getState();
  const places = () => {
    const regions = regionsIn(dock());
    return (['terminal', 'browser', 'plan'] as const).map((panel) => regionOf(regions, panel));
  };

  it('opens panels at their first content, per session, without changing the active panel', () => {
    dock().visit('one');
    dock().show('changes');
    expect(places()).toEqual(['top', 'top', 'top']);
    dock().fill('terminal');
    dock().fill('plan');
    dock().fill('terminal');
    expect(places()).toEqual(['bottom', 'top', 'foot']);
    expect(regionsIn(dock()).top.active).toBe('changes');
    dock().visit('two');
    expect(places()).toEqual(['top', 'top', 'top']);
    dock().visit('one');
    expect(places()).toEqual(['bottom', 'top', 'foot']);
  });

  it('leaves a panel where the user opened it', () => {
    dock().visit('one');
    dock().show('browser');
    dock().fill('browser');
    expect(places()).toEqual(['top', 'top', 'top']);
    expect(regionsIn(dock()).top.active).toBe('browser');
  });

  it('is overridden by the user’s layout until that is reset', () => {
    dock().visit('one');
    dock().move('plan', 'left');
    dock().fill('terminal');
    expect(places()).toEqual(['top', 'top', 'left']);
    dock().visit('two');
    dock().fill('browser');
    expect(places()).toEqual(['top', 'top', 'left']);
    dock().reset();
    expect(places()).toEqual(['top', 'corner', 'top']);
  });

  it('is remembered for the most recent sessions', () => {
    for (let session = 0; session < 60; session += 1) {
      dock().visit(`s-${session}`);
      dock().fill('plan');
    }
    expect(Object.keys(dock().sessions)).toHaveLength(50);
    expect(dock().sessions['s-59']).toBeDefined();
  });

  it('includes new panels and leaves out removed ones', () => {
    const { top } = firstRegions;
    const stored = { ...firstRegions, top: { ...top, tabs: ['code', 'gone'] as typeof top.tabs } };
    const { tabs } = withAllPanels(stored).top;
    expect(new Set(tabs)).toEqual(new Set(top.tabs));
  });
});
