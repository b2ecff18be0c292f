import { click, fill, shows, untilInPage } from '@belay/testkit';
import type { Page } from 'puppeteer-core';
import type { PlayedSessions } from './play-sessions.ts';

/** A page of the dashboard that is shown in the docs. */
export interface Screenshot {
  name: string;
  /** Taken before any session exists. */
  empty?: boolean;
  /** Taken only in the desktop size. */
  desktop?: boolean;
  path(sessions: PlayedSessions): string;
  /** Resolves once the page shows everything for the picture. */
  ready(page: Page, size: { phone: boolean }): Promise<void>;
}

export const screenshots: Screenshot[] = [
  {
    name: 'welcome',
    empty: true,
    path: () => '/',
    ready: async (page) => {
      await shows(page, 'main', 'Watch the demo');
      await shows(page, 'main', 'Check again');
    },
  },
  // First, because each login adds an entry.
  {
    name: 'audit',
    path: () => '/settings?section=audit',
    ready: (page) => shows(page, 'main', 'ada'),
  },
  {
    name: 'fleet',
    path: () => '/',
    ready: async (page) => {
      await shows(page, 'main', 'npm publish');
      await shows(page, 'main', 'strict mode');
      await answerable(page);
    },
  },
  {
    name: 'board',
    path: () => '/',
    ready: async (page, { phone }) => {
      await shows(page, 'main', 'npm publish');
      await click(page, 'Board');
      await shows(page, '[data-lane="Needs you"]', 'strict mode');
      if (!phone) await shows(page, '[data-lane="Review"]', 'rounds to whole minutes');
      await answerable(page);
    },
  },
  {
    name: 'compare',
    path: ({ comparison }) => `/compare/${comparison}`,
    ready: async (page) => {
      await shows(page, 'main', 'passed, exit code 0');
      await shows(page, 'main', 'failed, exit code 1');
      await shows(page, 'main', 'Math.round(seconds');
      await shows(page, 'main', 'Math.floor(seconds');
    },
  },
  {
    name: 'share',
    desktop: true,
    path: ({ demo }) => `/sessions/${demo}`,
    ready: async (page) => {
      await shows(page, 'main', 'rounds to whole minutes');
      await click(page, 'Share');
      await shows(page, '[role=dialog]', 'Design review');
    },
  },
  {
    name: 'new-session',
    path: () => '/new',
    ready: async (page, { phone }) => {
      await shows(page, 'main', 'Workspace');
      await fill(
        page,
        'Task',
        'The guide’s search is slow with 10,000 trails. Find out why, and make it answer in 50 ms.',
      );
      if (!phone) await click(page, 'Example');
    },
  },
  {
    name: 'session',
    path: ({ demo }) => `/sessions/${demo}`,
    ready: async (page, { phone }) => {
      await shows(page, 'main', 'rounds to whole minutes');
      if (phone) return;
      await coloured(page);
      await shows(page, '[aria-label="Terminal"] .xterm-rows', 'GET /style.css 200');
      await picture(page);
    },
  },
  {
    name: 'changes',
    path: ({ demo }) => `/sessions/${demo}?panel=changes`,
    ready: async (page, { phone }) => {
      if (phone) await click(page, 'Changes', 'nav');
      await shows(page, 'main', 'const rest = whole % 60');
      await untilInPage(page, () => document.querySelector('[role=group] .text-code-keyword'));
      await shows(page, 'main', 'Reject…');
      if (!phone) await picture(page);
    },
  },
  {
    name: 'preview',
    path: ({ demo }) => `/sessions/${demo}?panel=browser`,
    ready: async (page, { phone }) => {
      if (phone) await click(page, 'Browser', 'nav');
      await click(page, 'Preview', 'main');
      const frame = await page.waitForSelector('iframe[title^="Preview of port"]');
      const shown = await frame?.contentFrame();
      await shown?.waitForFunction(() => document.body.innerText.includes('2 h 0 min'));
    },
  },
  {
    name: 'replay',
    desktop: true,
    path: ({ demo, middle }) => `/sessions/${demo}?at=${middle}`,
    ready: async (page) => {
      await shows(page, '[aria-label="Chat"]', 'Showing event');
      await shows(page, '[aria-label="Terminal"] .xterm-rows', 'ERR_ASSERTION');
      await coloured(page);
    },
  },
  {
    name: 'approval',
    path: ({ publish }) => `/sessions/${publish}`,
    ready: async (page, { phone }) => {
      await shows(page, 'main', 'Allow once');
      if (!phone) await shows(page, '[aria-label="Code"]', 'No file is open');
      await answerable(page);
    },
  },
  {
    name: 'evaluations',
    path: () => '/evaluations',
    ready: (page) => shows(page, 'main', 'human-eval'),
  },
  {
    name: 'evaluation',
    path: () => '/evaluations/sonnet',
    ready: (page) => shows(page, 'main', 'flagged'),
  },
  {
    name: 'trial',
    path: () => '/evaluations/sonnet?task=Own/2&attempt=1',
    ready: (page) => shows(page, 'main', 'AssertionError'),
  },
  {
    name: 'automations',
    path: () => '/automations',
    ready: (page) => shows(page, 'main', 'paused'),
  },
  {
    name: 'automation',
    path: ({ automation }) => `/automations/${automation}?section=definition`,
    ready: (page) => shows(page, 'main', 'Next: '),
  },
  {
    name: 'automation-run',
    path: ({ automation, decided }) => `/automations/${automation}/runs/${decided}`,
    ready: (page) => shows(page, '[aria-label=Decisions]', 'There is capacity'),
  },
  {
    name: 'actions',
    path: () => '/actions',
    ready: (page) => shows(page, 'main', 'Roll dice'),
  },
  {
    name: 'action',
    path: () => '/actions/morse',
    ready: (page) => shows(page, 'main', 'Permissions'),
  },
  {
    name: 'settings',
    path: () => '/settings',
    ready: (page) => shows(page, 'main', 'Notifications'),
  },
  {
    name: 'models',
    path: () => '/settings?section=models',
    ready: (page) => shows(page, 'main', 'No key is set'),
  },
  {
    name: 'budgets',
    path: () => '/settings?section=budgets',
    ready: (page) => shows(page, 'main', 'Spending limit'),
  },
  {
    name: 'network',
    path: () => '/settings?section=network',
    ready: (page) => shows(page, 'main', 'Allowed hosts'),
  },
  {
    name: 'mcp',
    path: () => '/settings?section=mcp',
    ready: (page) => shows(page, 'main', 'tools in use'),
  },
  {
    name: 'tokens',
    path: () => '/settings?section=tokens',
    ready: (page) => shows(page, 'main', 'Wall screen'),
  },
  {
    name: 'users',
    path: () => '/settings?section=users',
    ready: (page) => shows(page, 'main', 'ada'),
  },
  {
    name: 'machines',
    path: () => '/settings?section=machines',
    ready: (page) => shows(page, 'main', 'No machines'),
  },
  {
    name: 'rules',
    path: () => '/settings?section=approvals',
    ready: (page) => shows(page, 'main', 'npm test *'),
  },
  {
    name: 'shortcuts',
    desktop: true,
    path: () => '/settings?section=shortcuts',
    ready: (page) => shows(page, 'main', 'Click a shortcut'),
  },
  {
    name: 'doctor',
    path: () => '/doctor',
    ready: (page) => shows(page, 'main', 'Docker'),
  },
  {
    name: 'palette',
    desktop: true,
    path: ({ demo }) => `/sessions/${demo}`,
    ready: async (page) => {
      await coloured(page);
      await page.keyboard.down('Control');
      await page.keyboard.press('k');
      await page.keyboard.up('Control');
      await shows(page, '[role=dialog]', 'New session');
    },
  },
];

/** Waits until the editor shows the file with syntax highlighting. */
const coloured = (page: Page) =>
  untilInPage(page, () => {
    const words = [...document.querySelectorAll('[aria-label="Code"] .view-line span[class]')];
    return new Set(words.map(({ className }) => className)).size > 3;
  });

const picture = (page: Page) =>
  untilInPage(page, () => {
    const image = document.querySelector<HTMLImageElement>('[aria-label="Browser"] img');
    return image !== null && image.complete && image.naturalWidth > 0;
  });

/** Waits until questions can be answered; a new one accepts no answer for a moment. */
const answerable = (page: Page): Promise<unknown> =>
  untilInPage(page, () =>
    [...document.querySelectorAll('main button[aria-disabled=true]')].every(
      ({ textContent }) => textContent !== 'Allow once',
    ),
  );
