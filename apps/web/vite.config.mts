import { fileURLToPath } from 'node:url';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = 'http://127.0.0.1:4600';

export default defineConfig({
  root: at('.'),
  plugins: [react(), tailwind()],
  resolve: {
    alias: {
      '@belay/protocol': at('../../libs/protocol/src/index.ts'),
      '@belay/client': at('../../libs/client/src/index.ts'),
      '@': at('./src'),
    },
  },
  build: { outDir: at('./dist/site'), emptyOutDir: true, target: 'es2024', sourcemap: false },
  server: {
    port: 4601,
    proxy: {
      '/api': { target: server, changeOrigin: true },
      '/socket': { target: server, ws: true, changeOrigin: true },
    },
  },
});
