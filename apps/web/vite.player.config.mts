import { parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin, type Rolldown } from 'vite';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Builds player.html: a self-contained page, in which a shared session's recording is embedded. */
// oxlint-disable-next-line import/no-default-export -- Vite reads the default export
export default defineConfig({
  root: at('.'),
  publicDir: false,
  plugins: [
    react(),
    tailwind(),
    replaced({
      'app/lazy-pages.ts': 'recorded-pages.tsx',
      'lib/server.ts': 'recorded-server.ts',
      'features/changes/start-highlighter.ts': 'no-highlighter.ts',
      'features/code/editor.ts': 'plain-editor.ts',
    }),
    oneFile(),
  ],
  resolve: {
    alias: {
      '@belay/protocol': at('../../libs/protocol/src/index.ts'),
      '@belay/client': at('../../libs/client/src/index.ts'),
      '@': at('./src'),
    },
  },
  build: {
    outDir: at('./dist/site'),
    emptyOutDir: false,
    target: 'es2024',
    assetsInlineLimit: Infinity,
    cssCodeSplit: false,
    modulePreload: false,
    rolldownOptions: { input: at('./player.html'), output: { codeSplitting: false } },
  },
});

/** Replaces files of the site by those of the player in every import. Each must be imported. */
function replaced(files: Record<string, string>): Plugin {
  const ours = new Map(
    Object.entries(files).map(([of, by]) => [at(`./src/${of}`), at(`./src/player/${by}`)]),
  );
  const left = new Set(ours.keys());
  const names = new Set([...ours.keys()].map((file) => parse(file).name));
  return {
    name: 'belay:replaced',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      if (!names.has(parse(source).name)) return null;
      const found = await this.resolve(source, importer, { ...options, skipSelf: true });
      const file = found && ours.get(found.id);
      if (!file) return found;
      left.delete(found.id);
      return file;
    },
    buildEnd(error) {
      if (!error && left.size > 0) throw new Error(`Nothing imports ${[...left].join(', ')}.`);
    },
  };
}

/**
 * Inlines scripts and styles into the page, with scripts at the end so that they can read the
 * recording.
 */
function oneFile(): Plugin {
  return { name: 'belay:one-file', generateBundle: { order: 'post', handler: inline } };
}

function inline(_options: unknown, bundle: Rolldown.OutputBundle): void {
  let scripts = '';
  let styles = '';
  for (const [name, part] of Object.entries(bundle)) {
    if (part.type === 'chunk') scripts += part.code;
    else if (name.endsWith('.css')) styles += String(part.source);
    else continue;
    delete bundle[name];
  }
  const page = Object.values(bundle).find(({ fileName }) => fileName.endsWith('.html'));
  if (page?.type !== 'asset') throw new Error('The player has no page.');
  // Vite itself leaves the preload list undefined if there is only one chunk.
  const script = scripts
    .replaceAll('__VITE_PRELOAD__', 'void 0')
    .replaceAll('</script', String.raw`<\/script`);
  page.source = String(page.source)
    .replace(/<script [^>]*><\/script>/g, '')
    .replace(/<link rel="stylesheet"[^>]*>/g, '')
    .replace('</head>', () => `<style>${styles}</style></head>`)
    .replace('</body>', () => `<script type="module">${script}</script></body>`);
}
