import { aptInstall, canInstall, findCommand } from './debian.mjs';
import { Instruction } from './steps.mjs';

/**
 * The browsers for the tests: the whole one, and a shell of the same version without windows, which
 * renders the same pages with a third less processor time. Without a shell, its path is that of the
 * whole browser.
 */
export async function prepareChromium(say, { install = true } = {}) {
  const missing = [whole() ? [] : 'chromium', shell() ? [] : 'chromium-headless-shell'].flat();
  if (install && canInstall() && missing.length > 0) {
    say(`installing Debian’s ${missing.join(' and ')}`);
    // Offline, and on relatives of Debian that have no shell, the whole browser is enough.
    await aptInstall(...missing).catch((error) => whole() ?? installWhole(error, missing));
  }
  const CHROMIUM = whole();
  if (!CHROMIUM)
    throw new Instruction(
      'The tests need Chromium: install it (on Debian: apt-get install chromium) or set CHROMIUM to its path.',
    );
  return { CHROMIUM, CHROMIUM_SHELL: shell() ?? CHROMIUM };
}

/** Tries again without the shell, if that was asked for. */
async function installWhole(error, missing) {
  if (missing.length === 1) throw error;
  await aptInstall('chromium');
}

const found = (names) => names.map(findCommand).find(Boolean);

const whole = () =>
  process.env.CHROMIUM ||
  found(['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']);

/** A given browser is used for all tests. */
const shell = () =>
  process.env.CHROMIUM_SHELL ||
  process.env.CHROMIUM ||
  found(['chromium-headless-shell', 'chrome-headless-shell']);
