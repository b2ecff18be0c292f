import { Group, Panel, Separator, useDefaultLayout } from 'react-resizable-panels';
import { useDock, type RegionId } from './dock-store';
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
        <Panel id="left" defaultSize="34" minSize={280}>
          <DockRegion id="left" />
        </Panel>
      )}
      {shown('left') && right && <Line orientation="horizontal" />}
      {right && (
        <Panel id="right" minSize={320}>
          <Split id="session-right" orientation="vertical">
            {shown('top') && (
              <Panel id="top" defaultSize="52" minSize={80}>
                <DockRegion id="top" />
              </Panel>
            )}
            {shown('top') && below && <Line orientation="vertical" />}
            {below && (
              <Panel id="below" minSize={33}>
                <Below />
              </Panel>
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
        <Panel id="bottom" defaultSize="56" minSize={200}>
          <DockRegion id="bottom" />
        </Panel>
      )}
      {left && right && <Line orientation="horizontal" />}
      {right && (
        <Panel id="corners" minSize={200}>
          <Corners />
        </Panel>
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
        <Panel id="corner" defaultSize="52" minSize={33}>
          <DockRegion id="corner" />
        </Panel>
      )}
      {corner && foot && <Line orientation="vertical" />}
      {foot && (
        <Panel id="foot" minSize={33}>
          <DockRegion id="foot" />
        </Panel>
      )}
    </Split>
  );
}

interface SplitProps {
  id: string;
  orientation: 'horizontal' | 'vertical';
  children: React.ReactNode;
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
