import { isInstalled } from './packages.mjs';

const lock = (packages) => JSON.stringify({ packages });
const wanted = lock({
  '': { name: 'belay' },
  'apps/cli': { version: '0.1.0' },
  'node_modules/@belay/cli': { resolved: 'apps/cli', link: true },
  'node_modules/a': { version: '1.0.0' },
  'apps/web/node_modules/a': { version: '2.0.0' },
  'node_modules/other-platform': { version: '1.0.0', optional: true },
});

const installed = (change) =>
  lock({
    'node_modules/@belay/cli': { resolved: 'apps/cli', link: true },
    'node_modules/a': { version: '1.0.0' },
    'apps/web/node_modules/a': { version: '2.0.0' },
    ...change,
  });

describe('whether the packages are installed', () => {
  it('is true when all are there in their versions, apart from other platforms', () => {
    expect(isInstalled(wanted, installed(), () => true)).toBe(true);
  });

  it('is false for another version', () => {
    const other = installed({ 'node_modules/a': { version: '1.0.1' } });
    expect(isInstalled(wanted, other, () => true)).toBe(false);
  });

  it('is false for a missing package', () => {
    const without = lock({ 'node_modules/a': { version: '1.0.0' } });
    expect(isInstalled(wanted, without, () => true)).toBe(false);
  });

  it('is false when the packages of a part of the product were cleaned away', () => {
    const isThere = (path) => !path.startsWith('apps/web/');
    expect(isInstalled(wanted, installed(), isThere)).toBe(false);
  });
});
