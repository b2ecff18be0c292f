import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { root } from './product-node.mjs';

/** One file each, from tsc's output: esbuild alone would lose the decorator metadata that Nest injects by. */
const bundles = {
  server: { entry: 'main.js', file: 'main.cjs' },
  agent: { entry: 'main.js', file: 'agent.cjs' },
  cli: { entry: 'main.js', file: 'belay.cjs' },
};

/** Packages that Nest and others load when they are there; and the one with a native part. */
const external = [
  'better-sqlite3',
  'pg-native',
  '@nestjs/microservices',
  '@nestjs/microservices/*',
  '@nestjs/swagger',
  '@fastify/static',
  '@fastify/view',
  'class-transformer',
  'class-transformer/*',
  'class-validator',
  'bufferutil',
  'utf-8-validate',
  'cpu-features',
];

/** In a sandbox the pty's native part lies beside the bundle, on the host in its package. */
const nativePty = {
  name: 'native-pty',
  setup(esbuild) {
    esbuild.onLoad({ filter: /@lydell[\\/]node-pty[\\/]requireBinary\.js$/ }, () => ({
      loader: 'js',
      contents: `
        const { existsSync } = require('node:fs');
        const { join } = require('node:path');
        exports.requireBinary = (file) => {
          const beside = join(__dirname, 'build/Release', file);
          if (existsSync(beside)) return require(beside);
          const name = ['@lydell/node-pty', process.platform, process.arch].join('-');
          return require(name + '/' + file);
        };`,
    }));
  },
};

const app = process.argv[2];
const bundle = bundles[app];
if (!bundle) {
  console.error(`Say which app to bundle: ${Object.keys(bundles).join(', ')}.`);
  process.exit(2);
}

const dist = join(root, 'apps', app, 'dist');
const { outputFiles } = await build({
  write: false,
  entryPoints: [join(dist, bundle.entry)],
  outfile: join(dist, 'bundle', bundle.file),
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  // Nest tells providers apart by their class names.
  keepNames: app === 'server',
  // Node keeps a program's text in memory, twice as large when a comment has a letter beyond Latin 1:
  // too much for many idle agents.
  minifyWhitespace: app === 'agent',
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'warning',
  external,
  plugins: [nativePty],
  define: { 'import.meta.url': 'belayBundleUrl' },
  banner: { js: `const belayBundleUrl = require('node:url').pathToFileURL(__filename).href;` },
});

// Renamed into place: a server that starts meanwhile finds the old bundle or the new one.
for (const { path, contents } of outputFiles) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, contents);
  renameSync(`${path}.new`, path);
}
