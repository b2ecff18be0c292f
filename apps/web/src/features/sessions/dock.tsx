import { useEffect, type ReactNode } from 'react';
import {
  Group,
  Panel,
  Separator,
  useDefaultLayout,
  usePanelRef,
  type PanelProps,
} from 'react-resizable-panels';
import { regionOf, useDock, type RegionId } from './dock-store';
import { DockRegion } from './dock-region';

/** The panels of a session: chat beside the code, terminal and the rest below it. */
export function Dock() {
  const regions = useDock((dock) => dock.regions);
  const maximized = useDock((dock) => dock.maximized);
  const shown = (id: RegionId) => regions[id].tabs.length > 0;
  if (maximized && shown(maximized)) return <DockRegion id={maximized} />;
  const below = shown('bottom') || shown('corner') || shown('foot');
  const right = shown('top') || below;
  return (
    <Split id="session" orientation="horizontal">
      {shown('left') && (
        <Place id="left" holds={['left']} defaultSize="34" minSize={280}>
          <DockRegion id="left" />
        </Place>
      )}
      {shown('left') && right && <Line orientation="horizontal" />}
      {right && (
        <Panel id="right" minSize={320}>
          <Split id="session-right" orientation="vertical">
            {shown('top') && (
              <Place id="top" holds={['top']} defaultSize="52" minSize={120}>
                <DockRegion id="top" />
              </Place>
            )}
            {shown('top') && below && <Line orientation="vertical" />}
            {below && (
              <Place id="below" holds={['bottom', 'corner', 'foot']} minSize={120}>
                <Below />
              </Place>
            )}
          </Split>
        </Panel>
      )}
    </Split>
  );
}

function Below() {
  const regions = useDock((dock) => dock.regions);
  const left = regions.bottom.tabs.length > 0;
  const right = regions.corner.tabs.length > 0 || regions.foot.tabs.length > 0;
  return (
    <Split id="session-below" orientation="horizontal">
      {left && (
        <Place id="bottom" holds={['bottom']} defaultSize="56" minSize={200}>
          <DockRegion id="bottom" />
        </Place>
      )}
      {left && right && <Line orientation="horizontal" />}
      {right && (
        <Place id="corners" holds={['corner', 'foot']} minSize={200}>
          <Corners />
        </Place>
      )}
    </Split>
  );
}

function Corners() {
  const regions = useDock((dock) => dock.regions);
  const corner = regions.corner.tabs.length > 0;
  const foot = regions.foot.tabs.length > 0;
  return (
    <Split id="session-corners" orientation="vertical">
      {corner && (
        <Place id="corner" holds={['corner']} defaultSize="52" minSize={80}>
          <DockRegion id="corner" />
        </Place>
      )}
      {corner && foot && <Line orientation="vertical" />}
      {foot && (
        <Place id="foot" holds={['foot']} minSize={80}>
          <DockRegion id="foot" />
        </Place>
      )}
    </Split>
  );
}

/** Of a collapsed place its tabs are left, in pixels. */
const tabsOnly = 33;

interface PlaceProps extends PanelProps {
  /** The regions in it: it opens when a panel of one of them is to be shown. */
  holds: readonly RegionId[];
}

/** A part of the dock that collapses to its tabs when its border is dragged over it. */
function Place({ holds, ...panel }: PlaceProps) {
  const handle = usePanelRef();
  const wanted = useDock((dock) => dock.wanted);
  const wantedHere =
    wanted !== null && holds.includes(regionOf(useDock.getState().regions, wanted.panel));
  useEffect(() => {
    if (wantedHere) handle.current?.expand();
  }, [handle, wanted, wantedHere]);
  return <Panel {...panel} panelRef={handle} collapsible collapsedSize={tabsOnly} />;
}

interface SplitProps {
  id: string;
  orientation: 'horizontal' | 'vertical';
  children: ReactNode;
}

function Split({ id, orientation, children }: SplitProps) {
  const saved = useDefaultLayout({ id: `belay.${id}`, storage: localStorage });
  return (
    <Group {...saved} id={id} orientation={orientation} className="h-full">
      {children}
    </Group>
  );
}

function Line({ orientation }: { orientation: 'horizontal' | 'vertical' }) {
  return (
    <Separator
      aria-label="Resize the panels"
      className={`bg-line outline-none hover:bg-line-strong focus-visible:bg-amber data-[separator=active]:bg-amber ${orientation === 'horizontal' ? 'w-px' : 'h-px'}`}
    />
  );
}
