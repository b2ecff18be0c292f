import { Injectable } from '@nestjs/common';
import { AppError, type OperationOutput } from '@belay/protocol';
import type { Caller } from '../access/caller.js';
import { Dispatcher } from './dispatcher.js';

/** Bytes read by one operation. */
const pageBytes = 150_000;

export interface OpenedFile {
  size: number;
  /** Null when the file changed while it was opened. */
  version: string | null;
  /**
   * The bytes from one offset to another, read as they are consumed. Throws `conflict` when the file became shorter
   * meanwhile.
   */
  bytes(from: number, to: number): AsyncGenerator<Buffer, void>;
}

/** Whole files of a workspace, read and written with file operations, which check the caller’s rights. */
@Injectable()
export class SessionFiles {
  constructor(private readonly dispatcher: Dispatcher) {}

  async open(session: string, path: string, access: FileAccess): Promise<OpenedFile> {
    const read = (offset: number, limit: number) =>
      this.dispatcher.call(
        session,
        {
          name: 'files.read',
          input: { path, encoding: 'base64', offset, limit },
          caller: access.caller,
        },
        access.signal,
      );
    const first = await read(0, pageBytes);
    const begin = Buffer.from(first.content, 'base64');
    return {
      size: first.size,
      version: first.version,
      bytes: async function* (from, to) {
        for (let at = from; at < to;) {
          const wanted = Math.min(pageBytes, to - at);
          const piece =
            at + wanted <= begin.length
              ? begin.subarray(at, at + wanted)
              : Buffer.from((await read(at, wanted)).content, 'base64');
          if (piece.length === 0) throw new AppError('conflict', `${path} changed meanwhile.`);
          yield piece;
          at += piece.length;
        }
      },
    };
  }

  /** `version` is the version that the file must have, or null if the file must not exist. */
  save(
    session: string,
    { path, content, ...only }: NewFile,
    { caller, signal }: FileAccess,
  ): Promise<OperationOutput<'files.write'>> {
    const input = {
      path,
      content: content.toString('base64'),
      encoding: 'base64',
      overwrite: only.version === undefined,
      ...only,
    };
    return this.dispatcher.call(session, { name: 'files.write', input, caller }, signal);
  }
}

interface NewFile {
  path: string;
  content: Buffer;
  executable?: boolean;
  version?: string | null;
}

interface FileAccess {
  caller: Caller;
  signal: AbortSignal;
}
