import { useEffect, useState } from 'react';
import { ArrowLeft, Hand, RotateCw, Terminal, Undo2 } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { Input } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import { client, live } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { useActs } from '../sessions/use-acts';
import { useIsPast, useLog, useSessionId, useView } from '../sessions/session-context';
import { BrowserConsole } from './browser-console';
import { LiveView } from './live-view';

/** The agent's browser: what it sees, live; a person can take over. */
export function BrowserPanel() {
  const acts = useActs();
  const session = useSessionId();
  const past = useIsPast();
  const page = useView((view) => view.page);
  const frame = useLog((log) => log.frame);
  const [held, setHolding] = useState(false);
  const holding = held && acts;
  const [console, setConsole] = useState(false);
  useEffect(() => {
    void live()
      .request('browser.watch', { session, watched: true })
      .catch(() => undefined);
    return () =>
      void live()
        .request('browser.watch', { session, watched: false })
        .catch(() => undefined);
  }, [session]);
  const url = (!past && frame?.url) || page?.args.url || '';
  const call = (operation: string, input: unknown) =>
    attempt(() => client.sessions.call(session, operation, input));
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
          label="Load again"
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
        {acts && (
          <Button small onClick={() => setHolding(!holding)}>
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
            {acts && ' Take over to open one yourself.'}
          </Empty>
        )}
      </div>
      {console && page && <BrowserConsole step={page.seq} />}
    </div>
  );
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
