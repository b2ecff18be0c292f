import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, transform, type BuildOptions, type Plugin } from 'esbuild';
import { root } from './product-node.mjs';

/** What is written: esbuild's output is bytes, its transformed code a text. */
interface File {
  path: string;
  contents: string | Uint8Array;
}

interface Bundle {
  entry: string;
  file: string;
}

/** The server is made from tsc's output: esbuild alone would lose the decorator metadata that Nest injects by. */
const bundles: Record<string, Bundle & { split?: boolean; also?: Bundle[] }> = {
  server: { entry: 'dist/main.js', file: 'main.cjs' },
  agent: {
    entry: 'src/main.ts',
    file: 'agent.cjs',
    split: true,
    also: [
      { entry: 'src/contained/main.ts', file: 'contained.cjs' },
      { entry: 'src/rehearsal/rehearse.ts', file: 'rehearsal.cjs' },
    ],
  },
  cli: { entry: 'dist/main.js', file: 'belay.cjs' },
};

/** Packages that Nest and others load when they are there; those with a native part; files that are sent as they are. */
const external = [
  'better-sqlite3',
  'swagger-ui-dist/*',
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
const nativePty: Plugin = {
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
const protocols = new Map<string, Buffer>();
const dockerProtocols: Plugin = {
  name: 'docker-protocols',
  setup(esbuild) {
    esbuild.onLoad({ filter: /dockerode[\\/]lib[\\/](session|buildkit)\.js$/ }, ({ path }) => ({
      loader: 'js',
      contents: readFileSync(path, 'utf8').replace(
        /"proto", "(\w+\.proto)"/g,
        (_all, name: string) => {
          protocols.set(name, readFileSync(join(path, '../proto', name)));
          return `"${name}"`;
        },
      ),
    }));
  },
};

/** The evaluation's tables and programs are in the bundle itself. */
const evaluationAssets: Plugin = {
  name: 'evaluation-assets',
  setup(esbuild) {
    esbuild.onLoad({ filter: /evaluation[\\/]dist[\\/]asset-text\.js$/ }, ({ path }) => {
      const assets = join(path, '../../assets');
      const texts = readdirSync(assets).map((name) => [
        name,
        readFileSync(join(assets, name), 'utf8'),
      ]);
      return {
        loader: 'js',
        contents: `
          const texts = ${JSON.stringify(Object.fromEntries(texts))};
          exports.assetText = (name) => texts[name];`,
      };
    });
  },
};

/** zod's error messages in all the languages that nobody asks for are half of zod. */
const englishZod: Plugin = {
  name: 'english-zod',
  setup(esbuild) {
    esbuild.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      loader: 'js',
      contents: `export { default as en } from './en.js';`,
    }));
  },
};

/**
 * zod writes and compiles a program for each schema at its first use. An agent uses most of its schemas a few times, and
 * starts more quickly without.
 */
const interpretedZod: Plugin = {
  name: 'interpreted-zod',
  setup(esbuild) {
    esbuild.onLoad({ filter: /zod[\\/]v4[\\/]core[\\/]core\.js$/ }, ({ path }) => ({
      loader: 'js',
      contents: `${readFileSync(path, 'utf8')}\nconfig({ jitless: true });`,
    }));
  },
};

/** Node takes a sixth of an agent's start to load TLS, and an agent in a sandbox of this machine never speaks it. */
const lateTls: Plugin = {
  name: 'late-tls',
  setup(esbuild) {
    esbuild.onLoad({ filter: /node_modules[\\/]ws[\\/]lib[\\/]websocket\.js$/ }, ({ path }) => ({
      loader: 'js',
      contents: readFileSync(path, 'utf8')
        .replace("= require('https');", "= { get request() { return require('https').request; } };")
        .replace("= require('tls');", "= { get connect() { return require('tls').connect; } };"),
    }));
  },
};

const app = process.argv[2] ?? '';
const bundle = bundles[app];
if (!bundle) {
  console.error(`Name the app to bundle: ${Object.keys(bundles).join(', ')}.`);
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
  plugins: [nativePty, dockerProtocols, evaluationAssets, englishZod, lateTls],
} satisfies BuildOptions;
const banner = `const belayBundleUrl = require('node:url').pathToFileURL(__filename).href;`;
const files = await (bundle.split ? inParts(bundle) : inOneFile(bundle));
// Each by itself: in one build with the other entries it would load what they share, most of which it does not use.
for (const other of bundle.also ?? []) files.push(...(await inParts(other)));
for (const [name, contents] of protocols) files.push({ path: join(folder, name), contents });

// Renamed into place: a server that starts meanwhile finds the old bundle or the new one.
mkdirSync(folder, { recursive: true });
for (const { path, contents } of files) {
  writeFileSync(`${path}.new`, contents);
  renameSync(`${path}.new`, path);
}
const made = new Set(files.map(({ path }) => basename(path)));
for (const name of readdirSync(folder)) if (!made.has(name)) rmSync(join(folder, name));

async function inOneFile({ entry, file }: Bundle): Promise<File[]> {
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
async function inParts({ entry, file }: Bundle): Promise<File[]> {
  const libs = ['protocol', 'rpc'];
  const { outputFiles } = await build({
    ...options,
    plugins: [...options.plugins, interpretedZod],
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
