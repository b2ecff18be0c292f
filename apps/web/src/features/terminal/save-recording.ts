import type { Event } from '@belay/protocol';
import { downloadFile } from '@/lib/download-file';
import { fileName } from '@/lib/file-name';
import { client } from '@/lib/server';
import { toAsciicast } from './asciicast';

interface SaveOptions {
  session: string;
  title: string;
  terminal: string;
  events: readonly Event[];
}

/** Downloads a terminal’s whole output as a recording for asciinema. */
export async function saveRecording({
  session,
  title,
  terminal,
  events,
}: SaveOptions): Promise<void> {
  const bytes = await client.sessions.terminal(session, terminal, { from: 0 });
  const cast = toAsciicast({ title, terminal, bytes, events });
  downloadFile(`${fileName(title)}-${terminal}.cast`, cast, 'application/x-asciicast');
}
