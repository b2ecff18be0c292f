import { existsSync, readdirSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Response } from 'express';
import { sendFile } from './send-file.js';

type Encoding = 'br' | 'gzip';

interface SiteFile {
  path: string;
  size: number;
  /** The precompressed variants of the file, by encoding. */
  encoded: Partial<Record<Encoding, { path: string; size: number }>>;
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
      const url = path.slice(folder.replace(/\/$/, '').length).replaceAll('\\', '/');
      this.#files.set(url, { path, size: statSync(path).size, encoded });
    }
  }

  /**
   * Sends the file at a path. Pages of the app have no file, so they get its index. Returns false for a missing file.
   */
  send(path: string, acceptEncoding: string, response: Response): boolean {
    const isPage = extname(path) === '';
    const file = this.#files.get(path) ?? (isPage ? this.#files.get('/index.html') : undefined);
    if (!file) return false;
    const encoding = (['br', 'gzip'] as const).find(
      (each) => file.encoded[each] && acceptEncoding.includes(each),
    );
    const body = (encoding && file.encoded[encoding]) || file;
    // Vite puts a hash of the content into each name in assets/.
    const hashed = path.startsWith('/assets/');
    response.type(extname(file.path)).set({
      'content-length': String(body.size),
      vary: 'accept-encoding',
      ...(encoding && { 'content-encoding': encoding }),
      'cache-control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    });
    sendFile(body.path, response);
    return true;
  }
}
