import { useEffect, useMemo, useState } from 'react';
import { ArrowLeft, Hand, RotateCw, Terminal, Undo2 } from 'lucide-react';
import { ignoreError, type OperationName, type OperationRequest } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { Input } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import { useIsPast, useLog, useSessionId, useView } from '@/features/session-log/session-context';
import { ensureSandbox, useCanAct } from '@/features/session-log/use-can-act';
import { useCommands } from '@/lib/commands';
import { client, live } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { BrowserConsole } from './browser-console';
import { LiveView } from './live-view';

/** What the agent sees, live; the user can take over. */
export function AgentBrowser() {
  const canAct = useCanAct();
  const session = useSessionId();
  const past = useIsPast();
  const page = useView((view) => view.page);
  const frame = useLog((log) => log.frame);
  const [held, setHolding] = useState(false);
  const holding = held && canAct;
  const [console, setConsole] = useState(false);
  useEffect(() => {
    void live()
      .request('browser.watch', { session, watched: true })
      .catch(ignoreError('the panel keeps its last picture'));
    return () =>
      void live()
        .request('browser.watch', { session, watched: false })
        .catch(ignoreError('who is disconnected watches no longer'));
  }, [session]);
  const url = (!past && frame?.url) || page?.args.url || '';
  const call = <N extends OperationName>(operation: N, input: OperationRequest<N>) =>
    attempt(() => client.sessions.call(session, operation, input));
  const hold = (next: boolean) =>
    attempt(async () => {
      if (next && (await ensureSandbox(session))) await watchAnew(session);
      setHolding(next);
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
      // oxlint-disable-next-line react/exhaustive-deps -- `hold` is another function each time
      [canAct, holding],
    ),
  );
  return (
    <div className="flex h-full flex-col">
      <div className="flex h-8 shrink-0 items-center gap-1 border-b px-1">
        <IconButton
          label="Back"
          icon={ArrowLeft}
          className="size-6"
          disabled={!holding}
          onClick={() => call('browser.back', { to: 'back' })}
        />
        <IconButton
          label="Reload"
          icon={RotateCw}
          className="size-6"
          disabled={!holding}
          onClick={() => call('browser.back', { to: 'reload' })}
        />
        <Address
          key={url}
          url={url}
          disabled={!holding}
          onGo={(next) => call('browser.open', { url: next })}
        />
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
        {page || (frame && !past) ? (
          <LiveView holding={holding} />
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

/** An agent that was started anew is told that somebody watches. */
async function watchAnew(session: string): Promise<void> {
  await live().request('browser.watch', { session, watched: false });
  await live().request('browser.watch', { session, watched: true });
}

interface AddressProps {
  url: string;
  disabled: boolean;
  onGo(url: string): void;
}

function Address({ url, disabled, onGo }: AddressProps) {
  const [text, setText] = useState(url);
  return (
    <form
      className="min-w-0 flex-1"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) onGo(text.includes('://') ? text : `http://${text}`);
      }}
    >
      <Input
        aria-label="Address"
        value={text}
        disabled={disabled}
        title={disabled ? 'Take over to open a page' : ''}
        placeholder="No page"
        onChange={(event) => setText(event.target.value)}
        className="h-6 truncate border-transparent bg-sunken font-mono text-xs disabled:opacity-100"
      />
    </form>
  );
}
