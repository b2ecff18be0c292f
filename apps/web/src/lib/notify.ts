import { isEnded, visibleText, type SessionSummary } from '@belay/protocol';
import { openSessionPage } from '@/lib/open-session-page';
import { usePreferences } from '@/lib/preferences';
import { stripMarkdown } from '@/lib/strip-markdown';

/**
 * Shows a browser notification that a session waits for the user or has ended, if the page is
 * hidden.
 */
export function notifyOf(before: SessionSummary | undefined, now: SessionSummary): void {
  const text = before && before.state !== now.state ? wordsFor(now) : null;
  if (!text || !document.hidden || !usePreferences.getState().notifications) return;
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return;
  const notification = new Notification(visibleText(now.title), {
    body: visibleText(text),
    tag: now.id,
    icon: '/icon.svg',
  });
  notification.addEventListener('click', () => {
    window.focus();
    void openSessionPage(now.id);
  });
}

function wordsFor(summary: SessionSummary): string | null {
  if (summary.state === 'waiting') {
    const [request] = summary.waitingFor;
    return (
      summary.question ??
      (request
        ? `Waiting for approval: ${request.subject}`
        : (summary.reason ?? 'Waiting for you.'))
    );
  }
  if (!isEnded(summary.state)) return null;
  return stripMarkdown(summary.reason ?? '') || `Session ${summary.state}.`;
}

/** Requests permission for notifications; resolves to whether it was granted. */
export async function allowNotifications(): Promise<boolean> {
  if (!('Notification' in globalThis)) return false;
  return (await Notification.requestPermission()) === 'granted';
}
