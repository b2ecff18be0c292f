import { useEffect, useMemo, useState } from 'react';
import { ArrowLeft, Hand, RotateCw, Terminal, Undo2 } from 'lucide-react';
import { ignoreError, type OperationName, type OperationRequest } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { IconButton } from '@/components/ui/icon-button';
import { useIsPast, useLog, useSessionId, useView } from '@/features/session-log/session-context';
import { ensureSandbox, useCanAct } from '@/features/session-controls/use-can-act';
import { useCommands } from '@/lib/commands';
import { client, live } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { AddressField } from './address-field';
import { BrowserConsole } from './browser-console';
import { LiveView } from './live-view';

/** The agent’s browser, live; the user can take control of it. */
export function AgentBrowser() {
  const canAct = useCanAct();
  const past = useIsPast();
  const page = useView((view) => view.page);
  const frame = useLog((log) => (past ? null : log.frame));
  const [holding, hold] = useHold(canAct);
  const [console, setConsole] = useState(false);
  return (
    <div className="flex h-full flex-col">
      <div className="flex h-8 shrink-0 items-center gap-1 border-b px-1">
        <Navigation url={frame?.url || page?.args.url || ''} disabled={!holding} />
        <IconButton
          label="Console"
          icon={Terminal}
          className="size-6"
          pressed={console}
          disabled={!page}
          onClick={() => setConsole(!console)}
        />
        {canAct && (
          <Button small onClick={() => hold(!holding)}>
            {holding ? <Undo2 size={12} aria-hidden /> : <Hand size={12} aria-hidden />}
            {holding ? 'Hand back' : 'Take over'}
          </Button>
        )}
      </div>
      <div className="min-h-0 flex-1">
        {page || frame ? (
          <LiveView page={page} frame={frame} holding={holding} />
        ) : (
          <Empty title="No page is open">
            Pages that the agent opens appear here, live.
            {canAct && ' Take over to open one yourself.'}
          </Empty>
        )}
      </div>
      {console && page && <BrowserConsole step={page.seq} />}
    </div>
  );
}

/** Whether the user is in control of the browser. It is watched while this is mounted. */
function useHold(canAct: boolean): [holding: boolean, hold: (next: boolean) => void] {
  const session = useSessionId();
  const [held, setHeld] = useState(false);
  const holding = held && canAct;
  useEffect(() => {
    watch(session, true).catch(ignoreError('the panel keeps its last picture'));
    return () =>
      void watch(session, false).catch(ignoreError('a disconnected page no longer watches'));
  }, [session]);
  const hold = (next: boolean) =>
    attempt(async () => {
      if (next && (await ensureSandbox(session))) {
        // A restarted agent does not know yet that the browser is watched.
        await watch(session, false);
        await watch(session, true);
      }
      setHeld(next);
    });
  useCommands(
    useMemo(
      () =>
        canAct
          ? [
              {
                id: 'browser.hold',
                title: holding ? 'Hand the browser back' : 'Take over the browser',
                group: 'Panels',
                run: () => hold(!holding),
              },
            ]
          : [],
      // oxlint-disable-next-line react/exhaustive-deps -- `hold` is a new function on each render
      [canAct, holding],
    ),
  );
  return [holding, hold];
}

const watch = (session: string, watched: boolean) =>
  live().request('browser.watch', { session, watched });

/** The navigation buttons and the address field. */
function Navigation({ url, disabled }: { url: string; disabled: boolean }) {
  const session = useSessionId();
  const call = <N extends OperationName>(operation: N, input: OperationRequest<N>) =>
    attempt(() => client.sessions.call(session, operation, input));
  return (
    <>
      <IconButton
        label="Back"
        icon={ArrowLeft}
        className="size-6"
        disabled={disabled}
        onClick={() => call('browser.back', { to: 'back' })}
      />
      <IconButton
        label="Reload"
        icon={RotateCw}
        className="size-6"
        disabled={disabled}
        onClick={() => call('browser.back', { to: 'reload' })}
      />
      <AddressField
        key={url}
        label="Address"
        address={url}
        disabled={disabled}
        title={disabled ? 'Take over to open a page' : ''}
        placeholder="No page"
        onGo={(next) =>
          next && call('browser.open', { url: next.includes('://') ? next : `http://${next}` })
        }
      />
    </>
  );
}
