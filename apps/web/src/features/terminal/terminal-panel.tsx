import { useState, type ReactNode } from 'react';
import { Group, Panel, useDefaultLayout } from 'react-resizable-panels';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { ResizeHandle } from '@/components/ui/resize-handle';
import { useLog, useSessionId, useView } from '@/features/session-log/session-context';
import { useSessionState } from '@/lib/summaries';
import { useCanAct } from '@/features/session-controls/use-can-act';
import { usePhone } from '@/lib/use-phone';
import { attempt } from '@/lib/toasts';
import { nextName, terminalNames } from './terminal-names';
import { useSplits, type SplitOrientation } from './splits';
import { openTerminal } from './terminal-control';
import { TerminalPane } from './terminal-pane';
import { useShownTerminal } from './use-shown-terminal';

/** The terminals of a session: one at a time, or two of them side by side or stacked. */
export function TerminalPanel() {
  const buffers = useLog((log) => log.terminals);
  const known = useView((view) => view.terminals);
  const names = terminalNames(buffers, known);
  const [chosen, setChosen] = useShownTerminal();
  const first = names.includes(chosen) ? chosen : names[0];
  const session = useSessionId();
  const split = useSplits(({ sessions }) => sessions[session]);
  const phone = usePhone();
  const canAct = useCanAct();
  const [inUse, setInUse] = useState<'first' | 'second'>('first');
  if (first === undefined) return <NoTerminal />;
  const others = names.filter((name) => name !== first);
  // The panes never show the same terminal, as each would fit it to its own size.
  const second = split && (others.includes(split.second) ? split.second : others[0]);
  const orientation = second === undefined || phone ? null : (split?.orientation ?? null);
  const show = (shown: { first: string; second: string; orientation: SplitOrientation }) => {
    const { first: chosenFirst, ...rest } = shown;
    useSplits.getState().set(session, rest);
    setChosen(chosenFirst);
  };
  const onSplit = (next: SplitOrientation | null) => {
    if (next === null) return useSplits.getState().set(session, null);
    attempt(async () => {
      const beside = second ?? others[0] ?? nextName(names);
      if (!names.includes(beside)) await openTerminal(session, beside);
      show({ first, second: beside, orientation: next });
    });
  };
  const splitting = !phone && (others.length > 0 || canAct) ? { orientation, onSplit } : null;
  if (orientation === null || second === undefined)
    return (
      <TerminalPane names={names} shown={first} onChoose={setChosen} splitting={splitting} inUse />
    );
  return (
    <Panes
      orientation={orientation}
      first={
        <TerminalPane
          names={names}
          shown={first}
          onChoose={(name) =>
            show({ first: name, second: name === second ? first : second, orientation })
          }
          splitting={splitting}
          inUse={inUse === 'first'}
          onUse={() => setInUse('first')}
        />
      }
      second={
        <TerminalPane
          names={names}
          shown={second}
          onChoose={(name) =>
            show({ first: name === first ? second : first, second: name, orientation })
          }
          splitting={null}
          inUse={inUse === 'second'}
          onUse={() => setInUse('second')}
        />
      }
    />
  );
}

function NoTerminal() {
  const session = useSessionId();
  const canAct = useCanAct();
  const starting = useSessionState(session) === 'starting';
  return (
    <Empty title="No terminal yet">
      <p>The output of the agent’s commands appears here, byte for byte.</p>
      {canAct && !starting && (
        <Button
          small
          className="mt-2"
          onClick={() => attempt(() => openTerminal(session, nextName([])))}
        >
          Open a terminal
        </Button>
      )}
    </Empty>
  );
}

interface PanesProps {
  orientation: SplitOrientation;
  first: ReactNode;
  second: ReactNode;
}

function Panes({ orientation, first, second }: PanesProps) {
  const saved = useDefaultLayout({ id: `belay.terminals-${orientation}`, storage: localStorage });
  return (
    <Group {...saved} key={orientation} id="terminals" orientation={orientation} className="h-full">
      <Panel id="first" minSize={80}>
        {first}
      </Panel>
      <ResizeHandle label="Resize the terminals" orientation={orientation} />
      <Panel id="second" minSize={80}>
        {second}
      </Panel>
    </Group>
  );
}
