const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

/** The folder to check: this repository or a copy of it. */
const root = process.cwd();
const libraries = readdirSync(join(root, 'libs')).map((name) => [`@belay/${name}`, `libs/${name}`]);
const sources = [...libraries, ['@belay/evaluation', 'evaluation']]
  .map(([name, folder]) => [name, join(root, folder, 'src/index.ts')])
  .filter(([, file]) => existsSync(file));

/** How dependency-cruiser resolves imports: our own packages by their sources. */
module.exports = {
  resolve: { alias: { ...Object.fromEntries(sources), '@': join(root, 'apps/web/src') } },
};
