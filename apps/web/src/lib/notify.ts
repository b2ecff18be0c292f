import { isEnded, type SessionSummary } from '@belay/protocol';
import { openSessionPage } from '@/lib/go';
import { usePreferences } from '@/lib/preferences';
import { withoutMarks } from '@/lib/without-marks';

/** Tells a person who looks elsewhere that a session waits for them or has ended. */
export function notifyOf(before: SessionSummary | undefined, now: SessionSummary): void {
  const text = before && before.state !== now.state ? wordsFor(now) : null;
  if (!text || !document.hidden || !usePreferences.getState().notifications) return;
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return;
  const notification = new Notification(now.title, { body: text, tag: now.id, icon: '/icon.svg' });
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
      (request ? `Allow ${request.subject}?` : (summary.reason ?? 'It waits for you.'))
    );
  }
  if (!isEnded(summary.state)) return null;
  return withoutMarks(summary.reason ?? '') || `It is ${summary.state}.`;
}

/** Asks the browser for leave to notify; answers whether it was given. */
export async function allowNotifications(): Promise<boolean> {
  if (!('Notification' in globalThis)) return false;
  return (await Notification.requestPermission()) === 'granted';
}
