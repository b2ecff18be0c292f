import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, transform } from 'esbuild';
import { root } from './product-node.mjs';

/** The server is made from tsc's output: esbuild alone would lose the decorator metadata that Nest injects by. */
const bundles = {
  server: { entry: 'dist/main.js', file: 'main.cjs' },
  agent: { entry: 'src/main.ts', file: 'agent.cjs', split: true },
  cli: { entry: 'dist/main.js', file: 'belay.cjs' },
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

/** What dockerode reads at run time to speak with BuildKit lies beside the bundle. */
const protocols = new Map();
const dockerProtocols = {
  name: 'docker-protocols',
  setup(esbuild) {
    esbuild.onLoad({ filter: /dockerode[\\/]lib[\\/](session|buildkit)\.js$/ }, ({ path }) => ({
      loader: 'js',
      contents: readFileSync(path, 'utf8').replace(/"proto", "(\w+\.proto)"/g, (_all, name) => {
        protocols.set(name, readFileSync(join(path, '../proto', name)));
        return `"${name}"`;
      }),
    }));
  },
};

/** zod's error messages in all the languages that nobody asks for are half of zod. */
const englishZod = {
  name: 'english-zod',
  setup(esbuild) {
    esbuild.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      loader: 'js',
      contents: `export { default as en } from './en.js';`,
    }));
  },
};

const app = process.argv[2];
const bundle = bundles[app];
if (!bundle) {
  console.error(`Say which app to bundle: ${Object.keys(bundles).join(', ')}.`);
  process.exit(2);
}

const folder = join(root, 'apps', app, 'dist/bundle');
const options = {
  write: false,
  bundle: true,
  platform: 'node',
  target: 'node24',
  legalComments: 'none',
  logLevel: 'warning',
  external,
  plugins: [nativePty, dockerProtocols, englishZod],
};
const banner = `const belayBundleUrl = require('node:url').pathToFileURL(__filename).href;`;
const files = await (bundle.split ? inParts(bundle) : inOneFile(bundle));
for (const [name, contents] of protocols) files.push({ path: join(folder, name), contents });

// Renamed into place: a server that starts meanwhile finds the old bundle or the new one.
mkdirSync(folder, { recursive: true });
for (const { path, contents } of files) {
  writeFileSync(`${path}.new`, contents);
  renameSync(`${path}.new`, path);
}
const made = new Set(files.map(({ path }) => basename(path)));
for (const name of readdirSync(folder)) if (!made.has(name)) rmSync(join(folder, name));

async function inOneFile({ entry, file }) {
  const { outputFiles } = await build({
    ...options,
    entryPoints: [join(root, 'apps', app, entry)],
    outfile: join(folder, file),
    format: 'cjs',
    // Nest tells providers apart by their class names.
    keepNames: app === 'server',
    sourcemap: 'linked',
    sourcesContent: false,
    define: { 'import.meta.url': 'belayBundleUrl' },
    banner: { js: banner },
  });
  return outputFiles;
}

/**
 * What is imported late is a file of its own, and what nobody uses is left out: node keeps a program's text in
 * memory, too much for many idle agents. From the sources, for only ES modules can be taken apart; then as
 * CommonJS, for an ES module that imports node:http loads all of node's fetch.
 */
async function inParts({ entry, file }) {
  const libs = ['protocol', 'rope'];
  const { outputFiles } = await build({
    ...options,
    entryPoints: { [file.replace('.cjs', '')]: join(root, 'apps', app, entry) },
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    format: 'esm',
    splitting: true,
    alias: Object.fromEntries(
      libs.map((lib) => [`@belay/${lib}`, join(root, 'libs', lib, 'src/index.ts')]),
    ),
  });
  return Promise.all(
    outputFiles.map(async ({ path, text }) => {
      const { code } = await transform(text, {
        format: 'cjs',
        platform: 'node',
        target: 'node24',
        minifyWhitespace: true,
        supported: { 'dynamic-import': false },
        define: { 'import.meta.url': 'belayBundleUrl' },
        banner: text.includes('import.meta.url') ? banner : '',
      });
      return { path, contents: code };
    }),
  );
}
