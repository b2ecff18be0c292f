import { Fragment, useEffect } from 'react';
import {
  Group,
  Panel,
  useDefaultLayout,
  usePanelRef,
  type PanelProps,
} from 'react-resizable-panels';
import { ResizeHandle } from '@/components/ui/resize-handle';
import { DockRegion } from './dock-region';
import { maximizedIn, regionsIn, useDock } from './dock-store';
import { regionOf, type RegionId } from './regions';

/** A part of the page: a region, or a split into further parts. */
interface Part extends Pick<PanelProps, 'defaultSize' | 'minSize'> {
  id: string;
  region?: RegionId;
  split?: Split;
}

interface Split {
  id: string;
  orientation: 'horizontal' | 'vertical';
  parts: readonly Part[];
}

const corners: Split = {
  id: 'session-corners',
  orientation: 'vertical',
  parts: [
    { id: 'corner', region: 'corner', defaultSize: '70', minSize: 80 },
    { id: 'foot', region: 'foot', minSize: 80 },
  ],
};
const below: Split = {
  id: 'session-below',
  orientation: 'horizontal',
  parts: [
    { id: 'bottom', region: 'bottom', defaultSize: '46', minSize: 200 },
    { id: 'corners', split: corners, minSize: 200 },
  ],
};
const right: Split = {
  id: 'session-right',
  orientation: 'vertical',
  parts: [
    { id: 'top', region: 'top', defaultSize: '46', minSize: 120 },
    { id: 'below', split: below, minSize: 120 },
  ],
};
const whole: Split = {
  id: 'session',
  orientation: 'horizontal',
  parts: [
    { id: 'left', region: 'left', defaultSize: '34', minSize: 280 },
    { id: 'right', split: right, minSize: 320 },
  ],
};

/**
 * The panels of a session. By default: the chat beside the code, with terminal and others below.
 */
export function Dock() {
  const maximized = useDock((dock) => {
    const id = maximizedIn(dock);
    return id && regionsIn(dock)[id].tabs.length > 0 ? id : null;
  });
  return maximized ? <DockRegion id={maximized} /> : <SplitView split={whole} />;
}

function SplitView({ split: { id, orientation, parts } }: { split: Split }) {
  const regions = useDock(regionsIn);
  const shown = parts.filter((part) => holds(part).some((region) => regions[region].tabs.length));
  // Sizes are stored separately for each set of visible parts.
  const saved = useDefaultLayout({
    id: `belay.${id}`,
    panelIds: shown.map((part) => part.id),
    storage: localStorage,
  });
  return (
    <Group {...saved} id={id} orientation={orientation} className="h-full">
      {shown.map((part, index) => (
        <Fragment key={part.id}>
          {index > 0 && <ResizeHandle label="Resize the panels" orientation={orientation} />}
          <CollapsiblePanel {...part} />
        </Fragment>
      ))}
    </Group>
  );
}

const holds = ({ region, split }: Part): RegionId[] =>
  split ? split.parts.flatMap(holds) : region ? [region] : [];

/** The size of a collapsed part, which shows only its tabs, in pixels. */
const tabsOnly = 33;

/** A part that collapses to its tabs when resized below its minimum; the right part has no tabs. */
function CollapsiblePanel(part: Part) {
  const { region, split, ...panel } = part;
  const handle = usePanelRef();
  const wanted = useDock((dock) => dock.wanted);
  const wantedHere =
    wanted !== null && holds(part).includes(regionOf(regionsIn(useDock.getState()), wanted.panel));
  useEffect(() => {
    if (wantedHere) handle.current?.expand();
  }, [handle, wanted, wantedHere]);
  return (
    <Panel {...panel} panelRef={handle} collapsible={split !== right} collapsedSize={tabsOnly}>
      {split ? <SplitView split={split} /> : region && <DockRegion id={region} />}
    </Panel>
  );
}
