import { Transform, type TransformCallback } from 'node:stream';
import { AppError, numberText } from '@belay/protocol';
import {
  blockBytes,
  readHeader,
  readRecords,
  writeHeader,
  type TarEntryHeader,
} from './tar-entry-header.js';

const maxEntries = 1_000_000;
const maxPathBytes = 4_096;
const maxExtraBytes = 100_000;
const maxLinkBytes = 64_000_000;

/**
 * Converts a tar archive to one that a native tar can unpack safely: each header is checked and written again, so that
 * no other program has to interpret the original. Fails with `AppError` (`forbidden`, `invalid_input`, `too_large`)
 * before any byte of an entry that would lead out of the folder or through a link made by the archive, or that is a
 * device or a pipe.
 */
export class CheckedTar extends Transform {
  #head: Buffer = Buffer.alloc(0);
  /** The rest of an entry’s content in bytes, including the padding of its last block. */
  #left = 0;
  #takes: 'pass' | 'drop' | 'collect' = 'pass';
  #extra: { type: string; chunks: Buffer[]; size: number } | undefined;
  /** Fields of the next header that earlier entries override. */
  #overrides: { path?: string; linkpath?: string; size?: string } = {};
  readonly #links = new Set<string>();
  #linkBytes = 0;
  #entries = 0;
  readonly #out: Buffer[] = [];

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      this.#take(chunk);
      const pieces = this.#out.splice(0);
      done(null, pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
    } catch (error) {
      done(error as Error);
    }
  }

  override _flush(done: TransformCallback): void {
    if (this.#left > 0 || this.#head.length > 0) return done(invalid('it is incomplete'));
    done(null, Buffer.alloc(2 * blockBytes));
  }

  #take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      const wanted = this.#left > 0 ? this.#left : blockBytes - this.#head.length;
      const piece = chunk.subarray(at, at + wanted);
      at += piece.length;
      if (this.#left > 0) this.#content(piece);
      else this.#header(piece);
    }
  }

  #content(piece: Buffer): void {
    this.#left -= piece.length;
    if (this.#takes === 'pass') this.#out.push(piece);
    if (this.#takes === 'collect') this.#extra?.chunks.push(piece);
    if (this.#left === 0 && this.#extra) this.#readExtra();
  }

  #header(piece: Buffer): void {
    const block = this.#head.length === 0 ? piece : Buffer.concat([this.#head, piece]);
    this.#head = Buffer.alloc(0);
    if (block.length < blockBytes) {
      this.#head = block;
      return;
    }
    const header = readHeader(block);
    if (!header) return;
    if (++this.#entries > maxEntries) throw tooMany();
    const overrides = this.#overrides;
    if ('xgLK'.includes(header.type)) return this.#beginExtra(header);
    this.#overrides = {};
    this.#entry({
      ...header,
      name: overrides.path ?? header.name,
      link: overrides.linkpath ?? header.link,
      size: overrides.size === undefined ? header.size : Number(overrides.size),
    });
  }

  /** Pax records, for one entry or (left out) for all, and GNU long names. */
  #beginExtra({ type, size }: TarEntryHeader): void {
    if (size > maxExtraBytes) throw invalid('a header is too large');
    this.#extra = { type, chunks: [], size };
    this.#begin('collect', size);
    if (size === 0) this.#readExtra();
  }

  #readExtra(): void {
    const { type, chunks, size } = this.#extra ?? { type: 'g', chunks: [], size: 0 };
    this.#extra = undefined;
    const text = Buffer.concat(chunks).toString('latin1', 0, size);
    if (type === 'L') this.#overrides.path = text.replace(/\0.*$/s, '');
    if (type === 'K') this.#overrides.linkpath = text.replace(/\0.*$/s, '');
    if (type !== 'x') return;
    const records = readRecords(text);
    if (!records || [...records.keys()].some((key) => key.startsWith('GNU.sparse')))
      throw invalid('it has unknown headers');
    for (const key of ['path', 'linkpath', 'size'] as const) {
      const value = records.get(key);
      if (value !== undefined) this.#overrides[key] = value;
    }
  }

  #entry(header: TarEntryHeader): void {
    if (!Number.isSafeInteger(header.size) || header.size < 0 || header.size >= 8 ** 11)
      throw invalid(`the size of ${shown(header.name)} is invalid`);
    const type = header.type === '0' && header.name.endsWith('/') ? '5' : header.type;
    const name = this.#checkedPath(header.name);
    requireKnown(type, name);
    if (name === '') {
      if (type !== '5') throw invalid('a file has no name');
      return this.#begin('drop', 0);
    }
    if (type === '5' && this.#links.has(name)) throw throughLink(name);
    const link = this.#checkedLink({ ...header, type, name });
    const isFile = type === '0';
    const size = isFile ? header.size : 0;
    this.#out.push(...writeHeader({ ...header, type, name, link, size }));
    this.#begin(isFile ? 'pass' : 'drop', type === '5' ? 0 : header.size);
  }

  #checkedLink({ type, name, link: given }: TarEntryHeader): string {
    const link = type === '1' ? this.#checkedPath(given) : given;
    if (type === '2' && (link.length > maxPathBytes || link.includes('\0') || link === ''))
      throw invalid(`the target of the link ${shown(name)} is invalid`);
    this.#noteLink(name, type === '2' || (type === '1' && this.#links.has(link)));
    return link;
  }

  #begin(takes: 'pass' | 'drop' | 'collect', size: number): void {
    this.#takes = takes;
    this.#left = Math.ceil(size / blockBytes) * blockBytes;
  }

  /** A relative path without dots, none of whose parents is a link of the archive. */
  #checkedPath(given: string): string {
    if (given.length > maxPathBytes) throw invalid('a name is too long');
    const parts = given.split('/').filter((part) => part !== '' && part !== '.');
    if (given.startsWith('/') || parts.includes('..') || given.includes('\0'))
      throw new AppError('forbidden', `The archive leads out of the workspace: ${shown(given)}.`);
    const path = parts.join('/');
    if (this.#links.size === 0) return path;
    for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
      if (this.#links.has(path.slice(0, end))) throw throughLink(path);
    }
    return path;
  }

  #noteLink(name: string, isLink: boolean): void {
    if (!isLink) return void this.#links.delete(name);
    this.#linkBytes += name.length;
    if (this.#linkBytes > maxLinkBytes) throw tooMany();
    this.#links.add(name);
  }
}

function requireKnown(type: string, name: string): void {
  const kind = refusedKinds[type];
  if (kind) throw invalid(`it contains ${kind}, ${shown(name)}`);
  if (!'0125'.includes(type)) throw invalid(`${shown(name)} is of an unknown type, ${type}`);
}

const refusedKinds: Readonly<Record<string, string>> = {
  '3': 'a device',
  '4': 'a device',
  '6': 'a pipe',
  S: 'a sparse file',
};

/** A name from the archive for messages; its bytes are latin1 text. */
const shown = (name: string): string => Buffer.from(name, 'latin1').toString().slice(0, 200);

const invalid = (why: string): AppError =>
  new AppError('invalid_input', `The archive cannot be unpacked: ${why}.`);
const throughLink = (name: string): AppError =>
  new AppError('forbidden', `The archive writes ${shown(name)} through a link.`);
const tooMany = (): AppError =>
  new AppError(
    'too_large',
    `The archive has more than ${numberText(maxEntries)} entries, or too many links. Leave files out.`,
  );
