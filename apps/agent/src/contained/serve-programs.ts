import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  AppError,
  ignoreError,
  type programCalls,
  type programServerCalls,
  type ProgramStart,
} from '@belay/protocol';
import type { RpcConnection, RpcStream } from '@belay/rpc';
import type { z } from 'zod';
import { MemoryKills } from '../memory-kills.js';
import { mountPoints } from '../layers/mount-points.js';
import { listPaths } from './list-paths.js';
import { packPath } from './pack-path.js';
import { runContained, type RunOptions } from './run-contained.js';
import { sendFiles } from './send-files.js';

export type StarterConnection = RpcConnection<typeof programCalls, typeof programServerCalls>;
type ProgramEnd = z.output<(typeof programCalls)['program.end']['output']>;

/** Runs the programs that the server starts, one at a time. */
export function servePrograms(
  connection: StarterConnection,
  options: Pick<RunOptions, 'imageEnvironment' | 'killRest'>,
): void {
  let isRunning = false;
  let last: Promise<ProgramEnd> | undefined;

  const run = async (start: ProgramStart, stream: RpcStream): Promise<ProgramEnd> => {
    const kills = new MemoryKills();
    const before = kills.count() ?? 0;
    try {
      const { code, left } = await runContained(start, {
        ...options,
        stream,
        openOutside: (host, port) => connection.open('egress', { host, port }),
      });
      if (start.output !== null) await sendFiles(start.output, () => connection.open('files', {}));
      return { code, left, outOfMemory: code !== 0 && (kills.count() ?? 0) > before };
    } finally {
      isRunning = false;
    }
  };

  connection.accept('program', async (start, stream) => {
    if (isRunning) throw new AppError('conflict', 'A program runs in this container already.');
    isRunning = true;
    stream.on('error', ignoreError('its program is killed'));
    last = run(start, stream);
    last.catch(ignoreError('who asks for its end receives it'));
  });
  const assertIdle = (): void => {
    if (isRunning) throw new AppError('conflict', 'A program runs in this container.');
  };
  const send = (files: Readable, stream: RpcStream): void => {
    stream.resume();
    pipeline(files, stream).catch(ignoreError('the reader sees that it breaks off'));
  };
  connection.accept('program.archive', async ({ path, since }, stream) => {
    assertIdle();
    send(await packPath(path, { skipped: mountPoints(), since }), stream);
  });
  connection.accept('program.listing', async ({ since }, stream) => {
    assertIdle();
    send(Readable.from(listPaths('/', { since, skipped: mountPoints() })), stream);
  });
  connection.serve({
    'program.end': async () => {
      if (!last) throw new AppError('conflict', 'No program has been started here.');
      return last;
    },
  });
}
