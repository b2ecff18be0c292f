import { clientOf, findServer, findSession, type Where } from '../connection.js';
import { openInBrowser } from '../open-in-browser.js';
import { outputTo } from '../output.js';

/**
 * `belay open`: prints the dashboard’s URL, and opens a browser if there is a screen. Other users can see a process’s
 * arguments, so the URL contains a one-time login code instead of the token.
 */
export async function openDashboard(
  session: string | undefined,
  options: Where & { logOut?: boolean },
): Promise<void> {
  const server = findServer(options);
  const client = clientOf(server);
  if (options.logOut) {
    await client.server.endLogins();
    outputTo(process.stdout).line('All browsers are logged out.');
    return;
  }
  const found = session && (await findSession(client, session));
  const page = found ? `/sessions/${found.id}` : '/';
  const { code } = await client.server.loginCode();
  const address = `${server.url}${page}?code=${code}`;
  openInBrowser(address);
}
