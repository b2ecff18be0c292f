import { aptInstall, canInstall, findCommand } from './debian.mjs';
import { Instruction } from './steps.mjs';

/** The browser for the tests; returns its path. */
export async function prepareChromium(say, { install = true } = {}) {
  const found = find();
  if (found) return found;
  if (!install || !canInstall())
    throw new Instruction(
      'The tests need Chromium: install it (on Debian: apt-get install chromium) or set CHROMIUM to its path.',
    );
  say('installing Debian’s chromium');
  await aptInstall('chromium');
  return find();
}

function find() {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  return process.env.CHROMIUM || names.map(findCommand).find(Boolean);
}
