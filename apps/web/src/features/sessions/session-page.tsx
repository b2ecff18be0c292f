import { useEffect } from 'react';
import { getRouteApi } from '@tanstack/react-router';
import { NoPage } from '@/app/no-page';
import { Loading } from '@/components/ui/empty';
import { usePhone } from '@/lib/media';
import { Dock } from './dock';
import { panelIds, useDock, type PanelId } from './dock-store';
import { TrustBar } from '../approvals/trust-bar';
import { EndedBar } from './ended-bar';
import { PhonePanels } from './phone-panels';
import {
  lookAt,
  SessionProvider,
  useLog,
  useSessionContext,
  useSessionId,
} from './session-context';
import { SessionHeader } from './session-header';
import { useSessionCommands } from './session-commands';
import { useSessionState, useTitle } from './queries';
import { Timeline } from '../timeline/timeline';

const route = getRouteApi('/sessions/$id');

export function SessionPage() {
  const { id } = route.useParams();
  return (
    <SessionProvider key={id} id={id}>
      <Session />
    </SessionProvider>
  );
}

function Session() {
  const id = useSessionId();
  const title = useTitle(id);
  const waits = useSessionState(id) === 'waiting';
  const status = useLog((log) => log.status);
  const error = useLog((log) => log.error);
  const phone = usePhone();
  useAddress();
  useSessionCommands();
  if (status === 'refused')
    return <NoPage title={error?.message ?? 'This session cannot be shown.'} />;
  return (
    <>
      <title>{`${waits ? '(!) ' : ''}${title ?? 'Session'} · Belay`}</title>
      <SessionHeader />
      <main id="content" className="flex min-h-0 flex-1 flex-col">
        <h1 className="sr-only">{title ?? 'Session'}</h1>
        {status === 'loading' ? (
          <Loading what="the log" />
        ) : (
          <div className="min-h-0 flex-1 max-md:order-last">
            {phone ? <PhonePanels /> : <Dock />}
          </div>
        )}
        <TrustBar />
        <EndedBar />
      </main>
      {!phone && <Timeline />}
    </>
  );
}

/** Goes where the address says: a panel, and a moment once the log has it. */
function useAddress(): void {
  const { at, panel } = route.useSearch();
  const context = useSessionContext();
  useEffect(() => {
    if (panelIds.includes(panel as PanelId)) useDock.getState().show(panel as PanelId);
  }, [panel]);
  useEffect(() => {
    if (!at) return;
    const there = () => {
      const { status, first } = context.log.getState();
      if (status !== 'ready' || first > at) return false;
      lookAt(context, at);
      return true;
    };
    if (there()) return;
    const stop = context.log.subscribe(() => there() && stop());
    return stop;
  }, [at, context]);
}
