import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, transform, type BuildOptions, type Plugin } from 'esbuild';
import { root } from './product-node.mjs';

/** A file to write; esbuild outputs bytes, but transformed code is text. */
interface File {
  path: string;
  contents: string | Uint8Array;
}

interface Bundle {
  entry: string;
  file: string;
}

/**
 * The server is bundled from tsc’s output: esbuild alone would drop the decorator metadata that
 * Nest injects by.
 */
const bundles: Record<string, Bundle & { split?: boolean; also?: Bundle[] }> = {
  server: {
    entry: 'dist/main.js',
    file: 'main.cjs',
    also: [
      { entry: 'dist/telemetry/open-telemetry.js', file: 'open-telemetry.cjs' },
      { entry: 'dist/storage/s3-bucket.js', file: 's3-bucket.cjs' },
      {
        entry: '../../node_modules/@kubernetes/client-node/dist/index.js',
        file: 'kubernetes-client.cjs',
      },
      {
        entry: '../../node_modules/@peculiar/x509/build/x509.cjs.js',
        file: 'certificates.cjs',
      },
    ],
  },
  agent: {
    entry: 'src/main.ts',
    file: 'agent.cjs',
    split: true,
    also: [
      { entry: 'src/contained/main.ts', file: 'contained.cjs' },
      { entry: 'src/layers/main.ts', file: 'layers.cjs' },
      { entry: 'src/rehearsal/rehearse.ts', file: 'rehearsal.cjs' },
    ],
  },
  cli: { entry: 'dist/main.js', file: 'belay.cjs' },
};

/**
 * Optional packages of Nest and others, packages with native parts, and files that are served as
 * they are.
 */
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

/** koffi’s native part is next to the bundle in a sandbox, and in its package on the host. */
const nativeKoffi: Plugin = {
  name: 'native-koffi',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^koffi$/ }, ({ path }) => ({ path, namespace: 'native' }));
    esbuild.onLoad({ filter: /^koffi$/, namespace: 'native' }, () => ({
      loader: 'js',
      contents: `
        const { existsSync } = require('node:fs');
        const { join } = require('node:path');
        const beside = join(__dirname, 'koffi.node');
        const name = ['@koromix/koffi', process.platform, process.arch].join('-');
        module.exports = require(existsSync(beside) ? beside : name);`,
    }));
  },
};

/**
 * Files that dockerode reads at run time to talk to BuildKit; they are written next to the bundle.
 */
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

/** Embeds the evaluation’s tables and programs in the bundle. */
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

/** Drops zod’s error messages in other languages, which are half of its size. */
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
 * Stops zod from compiling each schema at its first use: an agent uses most schemas only a few
 * times, and starts faster without it.
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

/**
 * Loads TLS on demand: it takes a sixth of an agent’s start, and an agent in a sandbox of this
 * machine never uses it.
 */
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

/** Keeps what few servers use in files of their own, so that others do not read megabytes more. */
const lateParts: Plugin = {
  name: 'late-parts',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^\.\/(open-telemetry|s3-bucket)\.js$/ }, ({ path }) => ({
      path: path.replace(/js$/, 'cjs'),
      external: true,
    }));
    const packages = {
      '@kubernetes/client-node': 'kubernetes-client.cjs',
      '@peculiar/x509': 'certificates.cjs',
    };
    const beside = app === 'server' ? '.' : '../../../server/dist/bundle';
    for (const [name, file] of Object.entries(packages))
      esbuild.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({
        path: `${beside}/${file}`,
        external: true,
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
  plugins: [nativeKoffi, dockerProtocols, evaluationAssets, englishZod, lateTls, lateParts],
} satisfies BuildOptions;
const banner = `const belayBundleUrl = require('node:url').pathToFileURL(__filename).href;`;
const files = await (bundle.split ? inParts(bundle) : inOneFile(bundle));
// Built separately: in one build with the other entries, it would load shared chunks that it mostly
// does not use.
for (const other of bundle.also ?? [])
  files.push(...(await (bundle.split ? inParts(other) : inOneFile(other))));
for (const [name, contents] of protocols) files.push({ path: join(folder, name), contents });

// Renamed into place, so that a server that starts meanwhile finds either the old bundle or the new
// one.
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
    // Nest distinguishes providers by their class names.
    keepNames: app === 'server',
    sourcemap: 'linked',
    sourcesContent: false,
    define: { 'import.meta.url': 'belayBundleUrl' },
    banner: { js: banner },
  });
  return outputFiles;
}

/**
 * Puts late imports into separate files and drops unused code, because Node keeps source text in
 * memory, which adds up over many idle agents. Built from the sources, since only ES modules can be
 * split; the output is CommonJS, because an ES module that imports node:http loads all of Node’s
 * fetch.
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
