import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { extract } from 'tar-stream';
import { packWorkspace } from '../pack-workspace.js';
import { planWorkspace } from '../plan-workspace.js';

export interface PackedEntry {
  type: string;
  mode: number;
  text: string;
  link: string;
}

/**
 * Packs a folder and reads the archive; calls `planned` before packing, and `began` at each header.
 */
export async function packed(
  folder: string,
  planned?: () => void,
  began?: (name: string) => void,
): Promise<{ entries: Map<string, PackedEntry>; sentences: string[] }> {
  const plan = await planWorkspace(folder, { maxBytes: 2_000_000_000 });
  planned?.();
  const entries = new Map<string, PackedEntry>();
  const reader = extract();
  reader.on('entry', (header, stream, next) => {
    began?.(header.name);
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const { type, mode, linkname } = header;
      entries.set(header.name.replace(/\/$/, ''), {
        type: type ?? '',
        mode: mode ?? 0,
        text: Buffer.concat(chunks).toString(),
        link: linkname ?? '',
      });
      next();
    });
  });
  Readable.fromWeb(packWorkspace(plan) as NodeStream).pipe(reader);
  await new Promise((done, failed) => reader.on('finish', done).on('error', failed));
  return { entries, sentences: plan.leftOut.sentences() };
}
