import { useEffect, type ReactNode } from 'react';
import {
  Group,
  Panel,
  Separator,
  useDefaultLayout,
  usePanelRef,
  type PanelProps,
} from 'react-resizable-panels';
import { DockRegion } from './dock-region';
import { maximizedIn, regionsIn, useDock } from './dock-store';
import { regionOf, type RegionId } from './regions';

/** The panels of a session: chat beside the code, terminal and the rest below it. */
export function Dock() {
  const regions = useDock(regionsIn);
  const maximized = useDock(maximizedIn);
  const shown = (id: RegionId) => regions[id].tabs.length > 0;
  if (maximized && shown(maximized)) return <DockRegion id={maximized} />;
  const below = shown('bottom') || shown('corner') || shown('foot');
  const right = shown('top') || below;
  return (
    <Split
      id="session"
      orientation="horizontal"
      panels={[shown('left') && 'left', right && 'right']}
    >
      {shown('left') && (
        <CollapsiblePanel id="left" holds={['left']} defaultSize="34" minSize={280}>
          <DockRegion id="left" />
        </CollapsiblePanel>
      )}
      {shown('left') && right && <ResizeHandle orientation="horizontal" />}
      {right && (
        <Panel id="right" minSize={320}>
          <Split
            id="session-right"
            orientation="vertical"
            panels={[shown('top') && 'top', below && 'below']}
          >
            {shown('top') && (
              <CollapsiblePanel id="top" holds={['top']} defaultSize="52" minSize={120}>
                <DockRegion id="top" />
              </CollapsiblePanel>
            )}
            {shown('top') && below && <ResizeHandle orientation="vertical" />}
            {below && (
              <CollapsiblePanel id="below" holds={['bottom', 'corner', 'foot']} minSize={120}>
                <Below />
              </CollapsiblePanel>
            )}
          </Split>
        </Panel>
      )}
    </Split>
  );
}

function Below() {
  const regions = useDock(regionsIn);
  const left = regions.bottom.tabs.length > 0;
  const right = regions.corner.tabs.length > 0 || regions.foot.tabs.length > 0;
  return (
    <Split
      id="session-below"
      orientation="horizontal"
      panels={[left && 'bottom', right && 'corners']}
    >
      {left && (
        <CollapsiblePanel id="bottom" holds={['bottom']} defaultSize="56" minSize={200}>
          <DockRegion id="bottom" />
        </CollapsiblePanel>
      )}
      {left && right && <ResizeHandle orientation="horizontal" />}
      {right && (
        <CollapsiblePanel id="corners" holds={['corner', 'foot']} minSize={200}>
          <Corners />
        </CollapsiblePanel>
      )}
    </Split>
  );
}

function Corners() {
  const regions = useDock(regionsIn);
  const corner = regions.corner.tabs.length > 0;
  const foot = regions.foot.tabs.length > 0;
  return (
    <Split
      id="session-corners"
      orientation="vertical"
      panels={[corner && 'corner', foot && 'foot']}
    >
      {corner && (
        <CollapsiblePanel id="corner" holds={['corner']} defaultSize="52" minSize={80}>
          <DockRegion id="corner" />
        </CollapsiblePanel>
      )}
      {corner && foot && <ResizeHandle orientation="vertical" />}
      {foot && (
        <CollapsiblePanel id="foot" holds={['foot']} minSize={80}>
          <DockRegion id="foot" />
        </CollapsiblePanel>
      )}
    </Split>
  );
}

/** Of a collapsed place its tabs are left, in pixels. */
const tabsOnly = 33;

interface CollapsiblePanelProps extends PanelProps {
  /** The regions in it: it opens when a panel of one of them is to be shown. */
  holds: readonly RegionId[];
}

/** A part of the dock that collapses to its tabs when its border is dragged over it. */
function CollapsiblePanel({ holds, ...panel }: CollapsiblePanelProps) {
  const handle = usePanelRef();
  const wanted = useDock((dock) => dock.wanted);
  const wantedHere =
    wanted !== null && holds.includes(regionOf(regionsIn(useDock.getState()), wanted.panel));
  useEffect(() => {
    if (wantedHere) handle.current?.expand();
  }, [handle, wanted, wantedHere]);
  return <Panel {...panel} panelRef={handle} collapsible collapsedSize={tabsOnly} />;
}

interface SplitProps {
  id: string;
  orientation: 'horizontal' | 'vertical';
  /** The ids of the parts that are drawn: sizes are remembered for each set of them. */
  panels: readonly (string | false)[];
  children: ReactNode;
}

function Split({ id, orientation, panels, children }: SplitProps) {
  const saved = useDefaultLayout({
    id: `belay.${id}`,
    panelIds: panels.filter((panel) => panel !== false),
    storage: localStorage,
  });
  return (
    <Group {...saved} id={id} orientation={orientation} className="h-full">
      {children}
    </Group>
  );
}

function ResizeHandle({ orientation }: { orientation: 'horizontal' | 'vertical' }) {
  return (
    <Separator
      aria-label="Resize the panels"
      className={`bg-line outline-none hover:bg-line-strong focus-visible:bg-amber data-[separator=active]:bg-amber ${orientation === 'horizontal' ? 'w-px' : 'h-px'}`}
    />
  );
}
