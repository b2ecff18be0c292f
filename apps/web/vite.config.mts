import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// oxlint-disable-next-line import/no-default-export -- Vite reads the default export
export default defineConfig({
  root: at('.'),
  plugins: [react(), tailwind(), compressed()],
  resolve: {
    alias: {
      '@belay/protocol': at('../../libs/protocol/src/index.ts'),
      '@belay/client': at('../../libs/client/src/index.ts'),
      '@': at('./src'),
    },
  },
  build: { outDir: at('./dist/site'), emptyOutDir: true, target: 'es2024', sourcemap: false },
});

/** Writes a .gz and a .br, which the server sends, next to each text file of at least 1 KiB. */
function compressed(): Plugin {
  const folder = at('./dist/site');
  return {
    name: 'belay:compressed',
    apply: 'build',
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(js|css|html|svg)$/.test(name)) continue;
        const file = join(folder, name);
        const content = readFileSync(file);
        if (content.length < 1_024) continue;
        const quality = { [constants.BROTLI_PARAM_QUALITY]: content.length > 1_000_000 ? 6 : 10 };
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
        writeFileSync(`${file}.br`, brotliCompressSync(content, { params: quality }));
      }
    },
  };
}
