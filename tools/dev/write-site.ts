import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../product-node.mjs';

/** Loaded before the application: Vite’s client, and what React needs to hot-swap components. */
const scripts = ['/@vite/client', '/@id/@vitejs/plugin-react/preamble'];

/**
 * A site for the server whose page loads the dashboard’s sources. The server serves it like the
 * built one, behind its login and with its headers. Vite’s own page contains an inline script,
 * which those headers forbid.
 */
export function writeSite(): string {
  const web = join(root, 'apps/web');
  const site = join(root, 'apps/server/dist/dev/site');
  rmSync(site, { recursive: true, force: true });
  mkdirSync(site, { recursive: true });
  cpSync(join(web, 'public'), site, { recursive: true });
  const page = readFileSync(join(web, 'index.html'), 'utf8');
  const tags = scripts.map((path) => `<script type="module" src="${path}"></script>`);
  writeFileSync(join(site, 'index.html'), page.replace('</head>', `${tags.join('')}</head>`));
  return site;
}
