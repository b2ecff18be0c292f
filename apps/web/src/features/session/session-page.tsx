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
import { useReadOnly } from '@/lib/role';
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
import { SettingChips } from './setting-chips';
import { SignInBar } from './sign-in-bar';
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
  const readOnly = useReadOnly();
  useOpenPanels();
  useAddress();
  useLeaveDeleted();
  useSessionCommands();
  if (status === 'refused')
    return <NoPage title={error?.message ?? 'This session cannot be shown.'} />;
  return (
    <>
      <title>{`${waits ? '(!) ' : ''}${title ?? 'Session'} · Belay`}</title>
      {!readOnly && <SkipLink />}
      <SessionHeader />
      {phone && !readOnly && <SettingChips labelled />}
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
        <SignInBar />
        <TrustBar />
        <EndedBar />
      </main>
      {!phone && <Timeline />}
    </>
  );
}

/** Beside the skip link of every page, since the message box comes after all of the chat. */
function SkipLink() {
  return (
    <a
      href="#message"
      className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2"
      onClick={(event) => {
        // The address of the page has no fragments.
        event.preventDefault();
        document.querySelector<HTMLElement>('#message')?.focus();
      }}
    >
      Skip to the message
    </a>
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
