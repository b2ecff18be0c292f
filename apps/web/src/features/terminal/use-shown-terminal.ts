import { useMemo, useState } from 'react';
import { usePanelLinks } from '@/lib/panel-links';
import { useSessionContext, useView } from '@/features/session-log/session-context';
import { holderOf } from './terminal-control';

/**
 * The terminal to show: the one that the user chose, a link led to or that was opened, whichever was last. A terminal
 * that the user types in stays.
 */
export function useShownTerminal(): [string, (name: string) => void] {
  const { log } = useSessionContext();
  const lastSeq = () => log.getState().view.lastSeq;
  const target = usePanelLinks((links) => links.terminal);
  // The position in the log is that of the moment at which the link was followed.
  // oxlint-disable-next-line react/exhaustive-deps
  const linked = useMemo(() => target && { name: target.name, seq: lastSeq() }, [target]);
  const [chosen, setChosen] = useState({ name: 'main', seq: 0 });
  const opened = useView((view) => view.openedTerminal);
  const asked = linked && linked.seq > chosen.seq ? linked : chosen;
  const held = useView(({ terminals }) =>
    [...terminals.values()].findLast((one) => holderOf(one) === 'user'),
  );
  const shown = opened && opened.seq > asked.seq ? (held?.terminal ?? opened.name) : asked.name;
  return [shown, (name) => setChosen({ name, seq: lastSeq() })];
}
