import { isEnded, visibleText, type SessionSummary } from '@belay/protocol';
import { openSessionPage } from '@/lib/open-session-page';
import { usePreferences } from '@/lib/preferences';
import { stripMarkdown } from '@/lib/strip-markdown';

/** A browser notification: another one with the same tag takes its place. */
interface Notice {
  title: string;
  body: string;
  tag: string;
  /** Called after a click, with the page in front. */
  open(): void;
}

/** The longest text that browsers show, and more. */
const maxBody = 500;

/** Notifies of a session that waits for the user or has ended. */
export function notifyOf(before: SessionSummary | undefined, now: SessionSummary): void {
  const text = before && before.state !== now.state ? wordsFor(now) : null;
  if (!text) return;
  const { id, title } = now;
  notify({ title, body: text, tag: id, open: () => void openSessionPage(id) });
}

/** Shows a browser notification if the page is hidden and the user wants some. */
export function notify({ title, body, tag, open }: Notice): void {
  if (!document.hidden || !usePreferences.getState().notifications) return;
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return;
  const text = visibleText(body).slice(0, maxBody);
  const notification = new Notification(visibleText(title), { body: text, tag, icon: '/icon.svg' });
  notification.addEventListener('click', () => {
    window.focus();
    open();
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
