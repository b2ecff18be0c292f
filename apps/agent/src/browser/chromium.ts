import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@belay/protocol';
import { connect, defaultArgs, launch, type Browser } from 'puppeteer-core';
import { loopbackNames } from '../egress/loopback-names.js';
import { isThere } from '../permissions.js';
import { asUser } from '../user-separation.js';

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
  /** The folder in which the browser gets a new profile. */
  state: string;
  proxy: string | null;
  chromium?: string;
  env: Record<string, string>;
  /** A page that takes longer than this to respond counts as hanging, in milliseconds. */
  answerMs?: number;
  sidecar(): Promise<string>;
}

export interface Running {
  browser: Browser;
  /** Ends the browser and removes its profile. */
  close(): Promise<void>;
}

const usualAnswerMs = 30_000;

export const viewport = { width: 1280, height: 800 };

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/chromium-headless-shell',
  '/usr/lib/chromium/chromium',
];

/** Starts the sandbox’s Chromium, or connects to one beside the sandbox. Throws `unavailable` with what to do. */
export async function startChromium(options: ChromiumOptions): Promise<Running> {
  const executable = [options.chromium, ...places].find((path) => path && isThere(path));
  return executable ? launchHere(executable, options) : connectBeside(options);
}

async function launchHere(executable: string, options: ChromiumOptions): Promise<Running> {
  const folder = join(options.state, 'browser');
  await mkdir(folder, { recursive: true });
  const profile = await mkdtemp(join(folder, 'profile-'));
  const forget = () => rm(profile, { recursive: true, force: true, maxRetries: 5 });
  try {
    const own = { headless: true, userDataDir: profile, args: flags(options.proxy) };
    const { file, args } = asUser(executable, await defaultArgs(own));
    const browser = await launch({
      executablePath: file,
      args,
      ignoreDefaultArgs: true,
      // Over a pipe, so that no port is open in the sandbox.
      pipe: true,
      defaultViewport: viewport,
      env: { ...options.env, XDG_CONFIG_HOME: profile, XDG_CACHE_HOME: profile },
      timeout: 60_000,
      protocolTimeout: options.answerMs ?? usualAnswerMs,
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
      `The browser did not start: ${why}. Try again, or continue without it.`,
    );
  }
}

async function connectBeside({ sidecar, answerMs }: ChromiumOptions): Promise<Running> {
  const endpoint = await sidecar();
  const address = endpoint.startsWith('ws')
    ? { browserWSEndpoint: endpoint }
    : { browserURL: endpoint };
  const browser = await connect({
    ...address,
    defaultViewport: viewport,
    protocolTimeout: answerMs ?? usualAnswerMs,
  });
  return { browser, close: () => browser.disconnect() };
}

/**
 * Hosts that Chromium contacts itself, whatever its settings. They bypass the proxy and reach nothing in a sandbox
 * without a network, so that the user is not asked about them.
 */
const ownHosts = [
  'update.googleapis.com',
  'optimizationguide-pa.googleapis.com',
  'content-autofill.googleapis.com',
  'safebrowsing.googleapis.com',
  'clients2.google.com',
  'redirector.gvt1.com',
];

/** Loopback bypasses the proxy by Chromium’s own rule: localhost means the sandbox. */
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
    ...(proxy
      ? [
          `--proxy-server=${proxy}`,
          `--proxy-bypass-list=${[...ownHosts, ...loopbackNames()].join(';')}`,
        ]
      : []),
  ];
}
