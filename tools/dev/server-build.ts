import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from '@swc/core';
import { context, type Plugin } from 'esbuild';
import { root } from '../product-node.mjs';
import { jsc } from '../swc-options.cjs';

/** The server’s own libraries. */
export const serverLibs = ['protocol', 'rpc', 'docker', 'host'];

export const serverProgram = join(root, 'apps/server/dist/dev/main.cjs');

/**
 * Builds the server from its sources without checking types; packages are not bundled. `run` prints
 * errors and resolves to whether the build succeeded.
 */
export async function serverBuild(): Promise<{
  run: () => Promise<boolean>;
  dispose: () => Promise<void>;
}> {
  const build = await context({
    entryPoints: [join(root, 'apps/server/src/main.ts')],
    outfile: serverProgram,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // Nest distinguishes providers by their class names.
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'warning',
    packages: 'external',
    alias: Object.fromEntries(
      serverLibs.map((lib) => [`@belay/${lib}`, join(root, 'libs', lib, 'src/index.ts')]),
    ),
    plugins: [decoratorMetadata],
  });
  return {
    run: () =>
      build.rebuild().then(
        () => true,
        // esbuild has printed the errors.
        () => false,
      ),
    dispose: () => build.dispose(),
  };
}

/** Adds the metadata of decorators that Nest injects by, which esbuild does not write. */
const decoratorMetadata: Plugin = {
  name: 'decorator-metadata',
  setup(build) {
    const compiled = new Map<string, { source: string; code: string }>();
    build.onLoad({ filter: /[\\/]apps[\\/]server[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      if (!/^\s*@\w/m.test(source)) return { contents: source, loader: 'ts' };
      const known = compiled.get(path);
      if (known?.source === source) return { contents: known.code, loader: 'ts' };
      const options = { filename: path, sourceMaps: 'inline', swcrc: false, jsc } as const;
      const made = await transform(source, { ...options, module: { type: 'es6' } }).catch(
        // On a syntax error, esbuild gets the source and reports the error in two lines.
        () => undefined,
      );
      if (!made) return { contents: source, loader: 'ts' };
      compiled.set(path, { source, code: made.code });
      return { contents: made.code, loader: 'ts' };
    });
  },
};
