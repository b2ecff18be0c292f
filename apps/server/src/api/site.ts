import { existsSync, readdirSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { sendFile } from './send-file.js';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.ttf': 'font/ttf',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
};

interface SiteFile {
  path: string;
  size: number;
  type: string;
  /** The precompressed variants of the file, by encoding. */
  encoded: Record<string, { path: string; size: number }>;
}

/** The web build: its files are listed once, so that no path is built from a request. */
export class Site {
  readonly #files = new Map<string, SiteFile>();

  constructor(folder: string) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || /\.(br|gz)$/.test(entry.name)) continue;
      const encoded: SiteFile['encoded'] = {};
      for (const [encoding, ending] of [
        ['br', '.br'],
        ['gzip', '.gz'],
      ] as const) {
        if (!existsSync(path + ending)) continue;
        encoded[encoding] = { path: path + ending, size: statSync(path + ending).size };
      }
      const type = types[extname(path)] ?? 'application/octet-stream';
      const url = path.slice(folder.replace(/\/$/, '').length).replaceAll('\\', '/');
      this.#files.set(url, { path, size: statSync(path).size, type, encoded });
    }
  }

  /** Sends the file of a path; a page of the app, which has no file, is its index. Returns false for a file that is not there. */
  send(path: string, acceptEncoding: string, response: ServerResponse): boolean {
    const isPage = extname(path) === '';
    const file = this.#files.get(path) ?? (isPage ? this.#files.get('/index.html') : undefined);
    if (!file) return false;
    const encoding = ['br', 'gzip'].find(
      (each) => file.encoded[each] && acceptEncoding.includes(each),
    );
    const body = (encoding && file.encoded[encoding]) || file;
    response.setHeader('content-type', file.type);
    response.setHeader('content-length', body.size);
    response.setHeader('vary', 'accept-encoding');
    if (encoding) response.setHeader('content-encoding', encoding);
    // Vite names everything in assets/ by its content.
    const hashed = path.startsWith('/assets/');
    response.setHeader(
      'cache-control',
      hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    );
    sendFile(body.path, response);
    return true;
  }
}
