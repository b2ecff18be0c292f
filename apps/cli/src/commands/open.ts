import { spawn } from 'node:child_process';
import { createClient } from '@belay/client';
import { findServer, findSession, type Where } from '../connection.js';
import { outputTo } from '../output.js';

/** `belay open`: the dashboard's address, which lets in whoever has it, and a browser where there is a screen. */
export async function openDashboard(session: string | undefined, options: Where): Promise<void> {
  const { url, token } = findServer(options);
  const found = session && (await findSession(createClient({ url, token }), session));
  const page = found ? `/sessions/${found.id}` : '/';
  const address = `${url}${page}?token=${token}`;
  outputTo(process.stdout).line(address);
  const opener = openerOf(process.platform);
  if (!opener || process.env.CI) return;
  const child = spawn(opener, [address], { detached: true, stdio: 'ignore' });
  child.on('error', () => {
    outputTo(process.stderr).line(`No browser can be opened from here: ${opener} is missing.`);
  });
  child.unref();
}

/** What opens an address with the person's own browser; undefined without a screen. */
function openerOf(platform: NodeJS.Platform): string | undefined {
  if (platform === 'darwin') return 'open';
  return process.env.DISPLAY || process.env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
}
