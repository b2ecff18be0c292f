import { StringDecoder } from 'node:string_decoder';
import type { FileHandle } from 'node:fs/promises';
import {
  AppError,
  type OperationInput,
  type OperationOutput,
  filesOperations,
} from '@belay/protocol';
import { throwIfAborted } from './fault.js';
import { openToRead } from './file-bytes.js';
import { requireText } from './text.js';
import type { Place } from './workspace-folder.js';

type Read = (typeof filesOperations)['files.read'];

const chunkSize = 1 << 20;

export async function readFile(
  place: Place,
  input: OperationInput<Read>,
  signal: AbortSignal,
): Promise<OperationOutput<Read>> {
  const { file, stats } = await openToRead(place);
  try {
    if (input.encoding === 'base64') return await readBytes(place, file, input, stats.size);
    return await readLines(place, file, input, signal);
  } finally {
    await file.close();
  }
}

async function readBytes(
  place: Place,
  file: FileHandle,
  { offset, limit }: { offset: number; limit: number },
  size: number,
) {
  if (offset > size) {
    throw new AppError(
      'invalid_input',
      `${place.given} has ${size} bytes: there is no byte ${offset}.`,
    );
  }
  // As many bytes as make a page of base64.
  const page = Math.max(1, Math.floor((limit * 3) / 4));
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
  };
}

/** One pass over the file: counts its lines and keeps those asked for, up to a page of whole lines. */
async function readLines(
  place: Place,
  file: FileHandle,
  range: { from: number; to?: number | undefined; limit: number },
  signal: AbortSignal,
) {
  if (range.to !== undefined && range.to < range.from) {
    throw new AppError('invalid_input', '`to` must not be before `from`.');
  }
  const page = new Page(range.from, range.to ?? Number.MAX_SAFE_INTEGER, range.limit);
  const chunk = Buffer.alloc(chunkSize);
  let size = 0;
  for (;;) {
    throwIfAborted(signal);
    const { bytesRead } = await file.read(chunk, 0, chunkSize, size);
    if (bytesRead === 0) break;
    const bytes = chunk.subarray(0, bytesRead);
    if (size === 0) requireText(bytes, place.given);
    page.take(bytes, size);
    size += bytesRead;
  }
  page.end();
  const { lines } = page;
  if (range.from > Math.max(lines, 1)) {
    throw new AppError(
      'invalid_input',
      `${place.given} has ${lines} lines: there is no line ${range.from}.`,
      { lines },
    );
  }
  const to = page.last;
  const wanted = Math.min(range.to ?? lines, lines);
  const content = page.text(place.given);
  return {
    path: place.path,
    content,
    from: range.from,
    to,
    lines,
    size,
    next: to < wanted ? to + 1 : null,
  };
}

class Page {
  lines = 0;
  last: number;
  private kept: Buffer[] = [];
  private bytes = 0;
  private line: Buffer[] = [];
  private lineBytes = 0;
  private lineStart = 0;
  private open = false;
  private full = false;
  private overlong: { line: number; start: number; size: number } | null = null;

  constructor(
    private readonly from: number,
    private readonly to: number,
    /** Bytes. */
    private readonly limit: number,
  ) {
    this.last = from - 1;
  }

  take(chunk: Buffer, offset: number): void {
    let start = 0;
    while (start < chunk.length) {
      const newline = chunk.indexOf(10, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      if (!this.open) this.lineStart = offset + start;
      this.open = true;
      this.keep(chunk.subarray(start, end));
      if (newline >= 0) this.finishLine();
      start = end;
    }
  }

  end(): void {
    if (this.open) this.finishLine();
  }

  text(given: string): string {
    const text = new StringDecoder('utf8').write(Buffer.concat(this.kept));
    if (!this.overlong) return text;
    const { line, start, size } = this.overlong;
    return `${text}\n[Line ${line} of ${given} has ${size} bytes and is cut here: read the rest with encoding base64 from byte ${start + this.limit}.]\n`;
  }

  private get wanted(): boolean {
    const number = this.lines + 1;
    return !this.full && number >= this.from && number <= this.to;
  }

  private keep(part: Buffer): void {
    const room = this.limit - this.lineBytes;
    if (this.wanted && room > 0) this.line.push(Buffer.from(part.subarray(0, room)));
    this.lineBytes += part.length;
  }

  /** A line goes into the page whole; only one that is longer than a page is cut, alone. */
  private finishLine(): void {
    if (this.wanted) {
      const number = this.lines + 1;
      if (this.bytes > 0 && this.bytes + this.lineBytes > this.limit) {
        this.full = true;
      } else {
        this.kept.push(...this.line);
        this.bytes += this.lineBytes;
        this.last = number;
        if (this.lineBytes > this.limit) {
          this.overlong = { line: number, start: this.lineStart, size: this.lineBytes };
          this.full = true;
        }
      }
    }
    this.lines++;
    this.line = [];
    this.lineBytes = 0;
    this.open = false;
  }
}
