const { existsSync } = require('node:fs');
const { join } = require('node:path');

const repository = join(__dirname, '..');

/**
 * Jest’s resolver for our own code: its libraries by name, `@/…` of the dashboard, and `./file.js` for `file.ts`.
 * What a resolver returns is kept as long as the worker; `moduleNameMapper` is applied twice to every import of every
 * test file.
 */
module.exports = (name, options) => {
  const { basedir, defaultResolver } = options;
  if (basedir.includes('/node_modules/')) return defaultResolver(name, options);
  const path = pathOf(name, basedir);
  return (path && sourceOf(path)) ?? defaultResolver(path ?? name, options);
};

/** The path that a name of our own code stands for; undefined for packages. */
function pathOf(name, folder) {
  if (name.startsWith('@/')) return join(repository, 'apps/web/src', name.slice(2));
  if (name.startsWith('./') || name.startsWith('../')) return join(folder, name);
  const [, library] = /^@belay\/([a-z]+)$/.exec(name) ?? [];
  if (!library) return undefined;
  return join(repository, library === 'evaluation' ? '' : 'libs', library, 'src/index');
}

const sourceOf = (path) =>
  ['.ts', '.tsx'].map((extension) => path.replace(/\.js$/, '') + extension).find(existsSync);
