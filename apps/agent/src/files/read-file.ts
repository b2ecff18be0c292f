import { StringDecoder } from 'node:string_decoder';
import type { FileHandle } from 'node:fs/promises';
import { AppError, type OperationInput, type OperationOutput } from '@belay/protocol';
import { throwIfAborted } from './fault.js';
import { charsetOf, decodeText, type Charset } from './charset.js';
import { maxEditable, openToRead } from './file-bytes.js';
import { requireText } from './text.js';
import { beginVersion, versionFrom } from './version-of.js';
import type { WorkspacePath } from './workspace-folder.js';

const chunkSize = 1 << 20;
/** The approximate size of a page of lines, in bytes; pages contain whole lines. */
const pageOfLines = 40_000;
/** The size of a page of base64, in bytes. */
const pageOfBytes = { usual: 30_000, most: 150_000 };

interface ReadOptions {
  signal: AbortSignal;
  /** Receives the bytes of a small file. */
  keep(bytes: Buffer): void;
}

type Input = OperationInput<'files.read'>;

interface Opened {
  place: WorkspacePath;
  file: FileHandle;
  /** The size when the file was opened. */
  size: number;
}

export async function readFile(
  place: WorkspacePath,
  input: OperationInput<'files.read'>,
  { signal, keep }: ReadOptions,
): Promise<OperationOutput<'files.read'>> {
  const { file, stats } = await openToRead(place);
  try {
    const opened = { place, file, size: stats.size };
    if (input.encoding === 'base64') return await readBytes(opened, input, signal);
    return await readLines(opened, input, { signal, keep });
  } finally {
    await file.close();
  }
}

async function readBytes(
  { place, file, size }: Opened,
  { offset = 0, limit = pageOfBytes.usual }: Pick<Input, 'offset' | 'limit'>,
  signal: AbortSignal,
) {
  if (offset > size) {
    throw new AppError(
      'invalid_input',
      `${place.given} has ${size} bytes: there is no byte ${offset}.`,
    );
  }
  const page = Math.min(limit, pageOfBytes.most);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(page), 0, page, offset);
  const to = offset + bytesRead;
  const content = buffer.subarray(0, bytesRead).toString('base64');
  return {
    path: place.path,
    content,
    from: offset,
    to,
    lines: 0,
    size,
    next: to < size ? to : null,
    version: offset === 0 ? await versionIn(file, size, signal) : null,
  };
}

/** Null when the file changed meanwhile. */
async function versionIn(
  file: FileHandle,
  size: number,
  signal: AbortSignal,
): Promise<string | null> {
  const hash = beginVersion(size);
  const chunk = Buffer.alloc(Math.min(chunkSize, Math.max(size, 1)));
  let done = 0;
  for (;;) {
    throwIfAborted(signal);
    const { bytesRead } = await file.read(chunk, 0, chunk.length, done);
    if (bytesRead === 0) return done === size ? versionFrom(hash) : null;
    hash.update(chunk.subarray(0, bytesRead));
    done += bytesRead;
  }
}

/** Reads the file once: counts its lines and keeps the requested ones, up to a page of whole lines. */
async function readLines(opened: Opened, input: Input, { signal, keep }: ReadOptions) {
  const { place, file, size: expected } = opened;
  const { from, to: last } = rangeOf(input);
  const page = new Page(from, last, pageOfLines);
  const { size, version, isUtf8 } = await scan(opened, { signal, keep, page });
  const charset = isUtf8 || size > maxEditable ? 'utf8' : charsetOf(await wholeOf(file, size));
  const { lines } = page;
  if (from > Math.max(lines, 1)) {
    throw new AppError(
      'invalid_input',
      `${place.given} has ${lines} lines: there is no line ${from}.`,
      { lines },
    );
  }
  const to = page.last;
  const wanted = Math.min(input.to ?? lines, lines);
  return {
    path: place.path,
    content: page.text(place.given, charset),
    from,
    to,
    lines,
    size,
    next: to < wanted ? to + 1 : null,
    version: size === expected ? version : null,
    ...(charset !== 'utf8' && { charset }),
  };
}

function rangeOf({ from, to, offset, limit }: Input): { from: number; to: number } {
  const first = from > 1 ? from : Math.max(1, offset ?? 1);
  if (to !== undefined && to < first)
    throw new AppError('invalid_input', '`to` must not be before `from`.');
  const most = Number.MAX_SAFE_INTEGER;
  return { from: first, to: Math.min(to ?? most, limit ? first + limit - 1 : most) };
}

/** Reads a text file to its end, in pieces. */
async function scan(
  { place, file, size: expected }: Opened,
  { signal, keep, page }: ReadOptions & { page: Page },
): Promise<{ size: number; version: string; isUtf8: boolean }> {
  const chunk = Buffer.alloc(chunkSize);
  const hash = beginVersion(expected);
  const utf8 = new Utf8Check();
  let size = 0;
  for (;;) {
    throwIfAborted(signal);
    const { bytesRead } = await file.read(chunk, 0, chunkSize, size);
    if (bytesRead === 0) break;
    const bytes = chunk.subarray(0, bytesRead);
    if (size === 0) requireText(bytes, place.given);
    page.take(bytes, size);
    hash.update(bytes);
    utf8.take(bytes);
    size += bytesRead;
  }
  page.end();
  if (size < chunkSize) keep(Buffer.from(chunk.subarray(0, size)));
  return { size, version: versionFrom(hash), isUtf8: !utf8.fails() };
}

async function wholeOf(file: FileHandle, size: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
  return buffer.subarray(0, bytesRead);
}

/** Checks whether bytes that arrive in pieces are UTF-8. */
class Utf8Check {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #failed = false;

  take(bytes: Uint8Array): void {
    this.#try(() => this.#decoder.decode(bytes, { stream: true }));
  }

  /** Whether any byte was invalid; call it after the last piece. */
  fails(): boolean {
    this.#try(() => this.#decoder.decode());
    return this.#failed;
  }

  #try(decoded: () => string): void {
    if (this.#failed) return;
    try {
      decoded();
    } catch {
      this.#failed = true;
    }
  }
}

class Page {
  readonly #from: number;
  readonly #to: number;
  readonly #limit: number;
  lines = 0;
  last: number;
  #kept: Buffer[] = [];
  #bytes = 0;
  #line: Buffer[] = [];
  #lineBytes = 0;
  #lineStart = 0;
  #open = false;
  #full = false;
  #overlong: { line: number; start: number; size: number } | null = null;

  constructor(
    from: number,
    to: number,
    /** Bytes. */
    limit: number,
  ) {
    this.#from = from;
    this.#to = to;
    this.#limit = limit;

    this.last = from - 1;
  }

  take(chunk: Buffer, offset: number): void {
    let start = 0;
    while (start < chunk.length) {
      const newline = chunk.indexOf(10, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      if (!this.#open) this.#lineStart = offset + start;
      this.#open = true;
      this.#keep(chunk.subarray(start, end));
      if (newline >= 0) this.#finishLine();
      start = end;
    }
  }

  end(): void {
    if (this.#open) this.#finishLine();
  }

  text(given: string, charset: Charset): string {
    const bytes = Buffer.concat(this.#kept);
    const isUtf8 = charset === 'utf8';
    const text = isUtf8 ? new StringDecoder('utf8').write(bytes) : decodeText(bytes, charset);
    if (!this.#overlong) return text;
    const { line, start, size } = this.#overlong;
    return `${text}\n[Line ${line} of ${given} has ${size} bytes and is cut here: read the rest with encoding base64 from byte ${start + this.#limit}.]\n`;
  }

  get #wanted(): boolean {
    const number = this.lines + 1;
    return !this.#full && number >= this.#from && number <= this.#to;
  }

  #keep(part: Buffer): void {
    const space = this.#limit - this.#lineBytes;
    if (this.#wanted && space > 0) this.#line.push(Buffer.from(part.subarray(0, space)));
    this.#lineBytes += part.length;
  }

  /** Adds a whole line to the page; only a line longer than a page is cut, and is then alone. */
  #finishLine(): void {
    if (this.#wanted) {
      const number = this.lines + 1;
      if (this.#bytes > 0 && this.#bytes + this.#lineBytes > this.#limit) {
        this.#full = true;
      } else {
        this.#kept.push(...this.#line);
        this.#bytes += this.#lineBytes;
        this.last = number;
        if (this.#lineBytes > this.#limit) {
          this.#overlong = { line: number, start: this.#lineStart, size: this.#lineBytes };
          this.#full = true;
        }
      }
    }
    this.lines++;
    this.#line = [];
    this.#lineBytes = 0;
    this.#open = false;
  }
}
