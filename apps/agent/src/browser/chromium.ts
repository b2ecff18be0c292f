import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@belay/protocol';
import { connect, launch, type Browser } from 'puppeteer-core';

export type {
  Browser,
  CDPSession,
  ConsoleMessage,
  Dialog,
  ElementHandle,
  Frame as PageFrame,
  HTTPRequest,
  HTTPResponse,
  KeyInput,
  Page,
} from 'puppeteer-core';

export interface ChromiumOptions {
  /** Folder in which the browser has a fresh profile. */
  state: string;
  proxy: string | null;
  chromium?: string;
  env: Record<string, string>;
  sidecar(): Promise<string>;
}

export interface Running {
  browser: Browser;
  /** Ends the browser and removes its profile. */
  close(): Promise<void>;
}

/** A page that takes longer to answer, in milliseconds, hangs. */
const protocolTimeout = 30_000;

export const viewport = { width: 1280, height: 800 };

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/chromium-headless-shell',
  '/usr/lib/chromium/chromium',
];

/** Starts the sandbox's Chromium, or connects to one beside the sandbox. Throws `unavailable` with what to do. */
export async function startChromium(options: ChromiumOptions): Promise<Running> {
  const executable = [options.chromium, ...places].find((path) => path && existsSync(path));
  return executable ? launchHere(executable, options) : connectBeside(options);
}

async function launchHere(executablePath: string, options: ChromiumOptions): Promise<Running> {
  const folder = join(options.state, 'browser');
  await mkdir(folder, { recursive: true });
  const profile = await mkdtemp(join(folder, 'profile-'));
  const forget = () => rm(profile, { recursive: true, force: true, maxRetries: 5 });
  try {
    const browser = await launch({
      executablePath,
      // Over a pipe: nothing listens in a sandbox.
      pipe: true,
      headless: true,
      defaultViewport: viewport,
      userDataDir: profile,
      env: { ...options.env, XDG_CONFIG_HOME: profile, XDG_CACHE_HOME: profile },
      args: flags(options.proxy),
      timeout: 60_000,
      protocolTimeout,
    });
    return {
      browser,
      async close() {
        const ended = browser.process();
        await browser.close().catch(() => ended?.kill('SIGKILL'));
        await forget();
      },
    };
  } catch (error) {
    await forget();
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new AppError(
      'unavailable',
      `The browser did not start: ${why}. Try again, or do without it.`,
    );
  }
}

async function connectBeside({ sidecar }: ChromiumOptions): Promise<Running> {
  const endpoint = await sidecar();
  const address = endpoint.startsWith('ws')
    ? { browserWSEndpoint: endpoint }
    : { browserURL: endpoint };
  const browser = await connect({ ...address, defaultViewport: viewport, protocolTimeout });
  return { browser, close: () => browser.disconnect() };
}

/**
 * Hosts that Chromium calls for itself whatever it is told: they go past the proxy, into a sandbox without a
 * network, so that a person is not asked about them.
 */
const ownHosts = [
  'update.googleapis.com',
  'optimizationguide-pa.googleapis.com',
  'content-autofill.googleapis.com',
  'safebrowsing.googleapis.com',
  'clients2.google.com',
  'redirector.gvt1.com',
];

/** Loopback goes past the proxy by Chromium's own rule: localhost means the sandbox. */
function flags(proxy: string | null): string[] {
  return [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-dev-shm-usage',
    '--disable-crash-reporter',
    '--mute-audio',
    '--hide-scrollbars',
    ...(proxy ? [`--proxy-server=${proxy}`, `--proxy-bypass-list=${ownHosts.join(';')}`] : []),
  ];
}
