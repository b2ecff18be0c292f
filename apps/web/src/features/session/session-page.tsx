import { useEffect } from 'react';
import { getRouteApi } from '@tanstack/react-router';
import { NoPage } from '@/components/no-page';
import { Loading } from '@/components/ui/empty';
import {
  lookAt,
  SessionProvider,
  useLog,
  useSessionContext,
  useSessionId,
} from '@/features/session-log/session-context';
import { useSessionState, useTitle } from '@/lib/summaries';
import { Timeline } from '@/features/timeline/timeline';
import { usePhone } from '@/lib/use-phone';
import { panelIds, type PanelId } from '@/lib/panels';
import { Dock } from './dock';
import { useDock } from './dock-store';
import { EndedBar } from './ended-bar';
import { OfferFiles } from './offer-files';
import { PhonePanels } from './phone-panels';
import { useSessionCommands } from './session-commands';
import { SessionHeader } from './session-header';
import { SessionRail } from './session-rail';
import { TrustBar } from './trust-bar';
import { useLeaveDeleted } from './use-leave-deleted';
import { useOpenPanels } from './use-open-panels';

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
  useOpenPanels();
  useAddress();
  useLeaveDeleted();
  useSessionCommands();
  if (status === 'refused')
    return <NoPage title={error?.message ?? 'This session cannot be shown.'} />;
  return (
    <>
      <title>{`${waits ? '(!) ' : ''}${title ?? 'Session'} · Belay`}</title>
      <SessionHeader />
      <OfferFiles />
      <main id="content" className="flex min-h-0 flex-1 flex-col">
        <h1 className="sr-only">{title ?? 'Session'}</h1>
        {status === 'loading' ? (
          <Loading what="the log" />
        ) : (
          <div className="flex min-h-0 flex-1 max-md:order-last">
            {!phone && <SessionRail />}
            <div className="min-w-0 flex-1">{phone ? <PhonePanels /> : <Dock />}</div>
          </div>
        )}
        <TrustBar />
        <EndedBar />
      </main>
      {!phone && <Timeline />}
    </>
  );
}

/**
 * Applies the URL’s search parameters: shows the panel, and the moment once its event is loaded.
 */
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
