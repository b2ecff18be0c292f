import { spawn } from 'node:child_process';
import { outputTo } from './output.js';

/** Prints a URL, and opens it in a browser if there is a screen. */
export function openInBrowser(address: string): void {
  outputTo(process.stdout).line(address);
  const opener = openerOf(process.platform);
  if (!opener || process.env.CI) return;
  const child = spawn(opener, [address], {
    detached: true,
    stdio: 'ignore',
    env: process.env,
  });
  child.on('error', () => {
    outputTo(process.stderr).line(
      `No browser was opened, because ${opener} is not installed. Open the URL yourself.`,
    );
  });
  child.unref();
}

/** The program that opens a URL in the user’s browser; undefined without a screen. */
function openerOf(platform: NodeJS.Platform): string | undefined {
  if (platform === 'darwin') return 'open';
  return process.env.DISPLAY || process.env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
}
