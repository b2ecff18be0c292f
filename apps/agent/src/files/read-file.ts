import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { AppError, type OperationInput, type OperationOutput } from '@belay/protocol';
import { throwIfAborted } from './fault.js';
import { charsetOf, decodeText, type Charset } from './charset.js';
import { maxEditable, openToRead } from './file-bytes.js';
import { hasByteOrderMark } from './lines.js';
import { requireText } from './text.js';
import { inUtf8, isUtf16 } from './utf16.js';
import { beginVersion, versionFrom, versionOf } from './version-of.js';
import type { WorkspacePath } from './workspace-folder.js';

const chunkSize = 1 << 20;
/** The approximate size of a page of lines, in bytes; pages contain whole lines. */
const pageOfLines = 40_000;
/** Longer lines are cut for a model, in bytes. */
const longestLine = 2_000;
/** The size of a page of base64, in bytes. */
const pageOfBytes = { usual: 30_000, most: 150_000 };

interface ReadOptions {
  signal: AbortSignal;
  /** Receives the bytes of a small file. */
  keep(bytes: Buffer): void;
  /** Whether long lines are cut. */
  cuts: boolean;
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
  options: ReadOptions,
): Promise<OperationOutput<'files.read'>> {
  const { file, stats } = await openToRead(place);
  try {
    const opened = { place, file, size: stats.size };
    if (input.encoding === 'base64') return await readBytes(opened, input, options.signal);
    return await readLines(opened, input, options);
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
async function readLines(opened: Opened, input: Input, options: ReadOptions) {
  const { place, file, size: expected } = opened;
  const { from, to: last } = rangeOf(input);
  const page = new Page({
    from,
    to: last,
    limit: pageOfLines,
    longest: options.cuts ? longestLine : pageOfLines,
  });
  const { size, version, isUtf8, form } = await scan(opened, { ...options, page });
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
  const described = [...(form.isUtf16 ? ['encoding UTF-16'] : []), ...form.ends()];
  return {
    path: place.path,
    content: page.text(charset),
    from,
    to,
    lines,
    size,
    next: to < wanted ? to + 1 : null,
    version: size === expected ? version : null,
    ...(charset !== 'utf8' && { charset }),
    ...(described.length > 0 && { form: described }),
    ...(page.cuts.length > 0 && { cut: page.cuts }),
  };
}

function rangeOf({ from, to, offset, limit }: Input): { from: number; to: number } {
  const first = from > 1 ? from : Math.max(1, offset ?? 1);
  if (to !== undefined && to < first)
    throw new AppError('invalid_input', '`to` must not be before `from`.');
  const most = Number.MAX_SAFE_INTEGER;
  return { from: first, to: Math.min(to ?? most, limit ? first + limit - 1 : most) };
}

interface Scanned {
  size: number;
  version: string;
  isUtf8: boolean;
  form: FileForm;
}

/** Reads a text file to its end, in pieces. */
async function scan(
  opened: Opened,
  { signal, keep, page }: ReadOptions & { page: Page },
): Promise<Scanned> {
  const { place, file, size: expected } = opened;
  const chunk = Buffer.alloc(chunkSize);
  const hash = beginVersion(expected);
  const utf8 = new Utf8Check();
  const form = new FileForm();
  let size = 0;
  for (;;) {
    throwIfAborted(signal);
    const { bytesRead } = await file.read(chunk, 0, chunkSize, size);
    if (bytesRead === 0) break;
    const bytes = chunk.subarray(0, bytesRead);
    if (size === 0 && isUtf16(bytes) && expected <= maxEditable)
      return scanUtf16(opened, { keep, page, form });
    if (size === 0) requireText(bytes, place.given);
    page.take(bytes);
    form.take(bytes);
    hash.update(bytes);
    utf8.take(bytes);
    size += bytesRead;
  }
  page.end();
  if (size < chunkSize) keep(Buffer.from(chunk.subarray(0, size)));
  return { size, version: versionFrom(hash), isUtf8: !utf8.fails(), form };
}

/** UTF-16 has line ends of two bytes, so it is read at once. */
async function scanUtf16(
  { file, size: expected }: Opened,
  { keep, page, form }: Pick<ReadOptions, 'keep'> & { page: Page; form: FileForm },
): Promise<Scanned> {
  const bytes = await wholeOf(file, expected);
  const text = inUtf8(bytes);
  page.take(text);
  page.end();
  form.take(text);
  form.isUtf16 = true;
  keep(bytes);
  return { size: bytes.length, version: versionOf(bytes), isUtf8: true, form };
}

async function wholeOf(file: FileHandle, size: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
  return buffer.subarray(0, bytesRead);
}

/** What a reader of a file cannot see in its text. */
class FileForm {
  isUtf16 = false;
  #hasMark = false;
  #size = 0;
  #lines = 0;
  #carriageReturns = 0;
  #last = 0;

  take(bytes: Buffer): void {
    if (this.#size === 0) this.#hasMark = hasByteOrderMark(bytes);
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
      this.#lines++;
      if ((at > 0 ? bytes[at - 1] : this.#last) === 13) this.#carriageReturns++;
    }
    this.#size += bytes.length;
    this.#last = bytes.at(-1) ?? this.#last;
  }

  ends(): string[] {
    const mixed = this.#carriageReturns < this.#lines;
    return [
      ...(this.#hasMark ? ['byte order mark'] : []),
      ...(this.#carriageReturns > 0 ? [mixed ? 'mixed line ends' : 'CR LF line ends'] : []),
      ...(this.#size > 0 && this.#last !== 10 ? ['no line end after the last line'] : []),
    ];
  }
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

interface PageOptions {
  from: number;
  to: number;
  /** Bytes of the page. */
  limit: number;
  /** Bytes of a line; what is longer is cut. */
  longest: number;
}

class Page {
  readonly #options: PageOptions;
  lines = 0;
  last: number;
  /** Lines that are not in the page as a whole. */
  readonly cuts: { line: number; bytes: number }[] = [];
  #kept: Buffer[] = [];
  #bytes = 0;
  #line: Buffer[] = [];
  #lineBytes = 0;
  #open = false;
  #full = false;

  constructor(options: PageOptions) {
    this.#options = options;
    this.last = options.from - 1;
  }

  take(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length) {
      const newline = chunk.indexOf(10, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      this.#open = true;
      this.#keep(chunk.subarray(start, end));
      if (newline >= 0) this.#finishLine();
      start = end;
    }
  }

  end(): void {
    if (this.#open) this.#finishLine();
  }

  text(charset: Charset): string {
    return decodeText(Buffer.concat(this.#kept), charset);
  }

  get #wanted(): boolean {
    const number = this.lines + 1;
    return !this.#full && number >= this.#options.from && number <= this.#options.to;
  }

  #keep(part: Buffer): void {
    const space = this.#options.longest - this.#lineBytes;
    if (this.#wanted && space > 0) this.#line.push(Buffer.from(part.subarray(0, space)));
    this.#lineBytes += part.length;
  }

  #finishLine(): void {
    if (this.#wanted) this.#addLine(this.lines + 1);
    this.lines++;
    this.#line = [];
    this.#lineBytes = 0;
    this.#open = false;
  }

  /** Adds a line to the page, unless the page is full. */
  #addLine(number: number): void {
    const { limit, longest } = this.#options;
    const isCut = this.#lineBytes > longest;
    const shown = Buffer.concat(this.#line);
    const line = isCut ? Buffer.concat([wholeCharacters(shown), Buffer.from(cutMark)]) : shown;
    if (this.#bytes > 0 && this.#bytes + line.length > limit) {
      this.#full = true;
      return;
    }
    this.#kept.push(line);
    this.#bytes += line.length;
    this.last = number;
    if (isCut) this.cuts.push({ line: number, bytes: this.#lineBytes });
  }
}

/** ASCII, for all encodings. */
const cutMark = ' [cut]\n';

/** Without a character of UTF-8 that is cut at the end. */
function wholeCharacters(bytes: Buffer): Buffer {
  const start = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80);
  return isUtf8(bytes.subarray(Math.max(0, start))) ? bytes : bytes.subarray(0, Math.max(0, start));
}
