import {
  programCalls,
  programServerCalls,
  type AppError,
  type ProgramStart,
} from '@belay/protocol';
import { dialRpc, outputPieceHead, type RpcConnection, type RpcStream } from '@belay/rpc';
import type { z } from 'zod';
import type { FakeContainer, FakeEngine } from './fake-engine.js';

type Starter = RpcConnection<typeof programCalls, typeof programServerCalls>;
type End = z.output<(typeof programCalls)['program.end']['output']>;

/** A program that a played starter runs. */
export interface PlayedProgram {
  start: ProgramStart;
  container: FakeContainer;
  /** Its input and output. */
  stream: RpcStream;
  starter: Starter;
  print(text: string, isError?: boolean): void;
  end(end?: Partial<End>): void;
}

/** What each container with a starter mounts: its target, and whether that is read-only. */
export const starterMounts = [
  ['/opt/belay', true],
  ['/run/belay', true],
  ['/etc/hosts', true],
];

/** The starters in the containers of an engine in memory, which dial in as real ones do. */
export class PlayedStarters {
  readonly programs: PlayedProgram[] = [];
  /** Called with each program; a program that does not heed the end of its input must be ended. */
  onRun: (program: PlayedProgram) => void = ({ stream, end }) => {
    stream.resume().once('end', () => end());
  };
  /** Why programs are refused. */
  refusal: AppError | undefined;

  constructor(private readonly engine: FakeEngine) {
    engine.onStart = (container) => this.#dial(container);
  }

  #dial(container: FakeContainer): () => void {
    const mounts = container.spec.HostConfig?.Mounts ?? [];
    const socket = mounts.find(({ Target }) => Target === '/run/belay')?.Source;
    // A service.
    if (socket === undefined) return () => {};
    const address = `unix:${socket}/agent.sock`;
    const starter: Starter = dialRpc({ address, serves: programCalls, calls: programServerCalls });
    let last = Promise.withResolvers<End>();
    starter.serve({ 'program.end': () => last.promise });
    starter.accept('program', async (start, stream) => {
      if (this.refusal) throw this.refusal;
      last = Promise.withResolvers<End>();
      const { resolve } = last;
      const program: PlayedProgram = {
        start,
        container,
        stream,
        starter,
        print: (text, isError = false) => {
          const data = Buffer.from(text);
          stream.write(Buffer.concat([outputPieceHead({ isError, data }), data]));
        },
        end: (end) => {
          stream.end();
          stream.resume();
          resolve({ code: 0, outOfMemory: false, left: 0, ...end });
        },
      };
      this.programs.push(program);
      this.onRun(program);
    });
    // A real one ends its container.
    starter.on('closed', () => {
      if (container.state === 'running' && this.engine.containers.has(container.id))
        this.engine.kill(container, { code: 0 });
    });
    return () => void starter.close();
  }
}
