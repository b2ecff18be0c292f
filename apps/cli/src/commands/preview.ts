import { AppError } from '@belay/protocol';
import { clientFor, clientOf, findSession, type Where } from '../connection.js';
import { openInBrowser } from '../open-in-browser.js';

/**
 * `belay preview`: prints a URL for a port of the sandbox, valid once and within a minute, and opens a browser if
 * there is a screen. By default, it is the port on which a program listens.
 */
export async function openPreview(
  session: string,
  port: number | undefined,
  options: Where & { path: string },
): Promise<void> {
  const client = clientFor(options);
  const { id } = await findSession(client, session);
  const chosen = port ?? (await onlyPort(client, id));
  const { url } = await client.sessions.preview(id, { port: chosen, path: options.path });
  openInBrowser(url);
}

async function onlyPort(client: ReturnType<typeof clientOf>, session: string): Promise<number> {
  const { ports } = await client.sessions.call(session, 'system.ports', {});
  const [first, ...others] = ports;
  if (first === undefined)
    throw new AppError(
      'unavailable',
      'No program in the sandbox listens on a port. Ask the agent to start the server.',
    );
  if (others.length === 0) return first;
  const list = ports.join(', ');
  throw new AppError('invalid_input', `Programs listen on ports ${list}. Name one of them.`);
}
