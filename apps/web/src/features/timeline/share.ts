import type { SessionSummary } from '@belay/protocol';
import { download } from '@/lib/download';
import { fileName } from '../sessions/session-actions';
import type { SessionLog } from '../sessions/session-store';
import { recordedPage } from './recorded-page';

/** Saves the session as one HTML file that plays without a server. */
export async function shareSession(summary: SessionSummary, log: SessionLog): Promise<void> {
  const terminals = [...log.terminals].map(([name, buffer]) => ({
    name,
    start: buffer.start,
    text: new TextDecoder().decode(buffer.slice(0)),
  }));
  const page = recordedPage({ summary, events: log.events, terminals });
  download(`${fileName(summary.title)}.html`, page, 'text/html');
}
