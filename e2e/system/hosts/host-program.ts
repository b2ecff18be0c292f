import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ProgramSpec } from '@belay/containers';
import { programCalls, programServerCalls, type ProgramStart } from '@belay/protocol';
import { outputPieces, rpcServer, type RpcConnection } from '@belay/rpc';
import { never, newId, type HostUser } from './host-user.js';

type Starter = RpcConnection<typeof programServerCalls, typeof programCalls>;

/** A container for programs, in which the real starter runs them. */
export class HostProgram {
  /** The contents of the streams of files that were sent. */
  readonly files: Promise<string>[] = [];

  private constructor(
    readonly id: string,
    private readonly starter: Starter,
  ) {
    starter.accept('files', async (_, stream) => void this.files.push(text(stream)));
    starter.accept('egress', async (_, stream) => void stream.end('from outside'));
  }

  static async start(user: HostUser, spec: ProgramSpec): Promise<HostProgram> {
    const dialled = Promise.withResolvers<Starter>();
    const server = createServer();
    rpcServer({
      server,
      serves: programServerCalls,
      calls: programCalls,
      onConnection: (connection) => dialled.resolve(connection),
    });
    user.takes.set(spec.id, ({ request, socket, head }) =>
      server.emit('upgrade', request, socket, head),
    );
    await user.host.startProgram(spec, never);
    return new HostProgram(spec.id, await dialled.promise);
  }

  /** Runs a script of a shell. */
  async run(
    script: string,
    { input = '', ...more }: Partial<ProgramStart> & { input?: string } = {},
  ) {
    const stream = await this.starter.open('program', {
      command: ['/bin/sh', '-c', script],
      folder: '/tmp',
      env: {},
      egress: false,
      services: {},
      output: null,
      ...more,
    });
    stream.end(input);
    const printed = { out: '', errors: '' };
    for await (const { isError, data } of outputPieces(stream))
      printed[isError ? 'errors' : 'out'] += data.toString();
    return { ...printed, ...(await this.starter.call('program.end', {})) };
  }

  /** Its container ends. */
  end(): Promise<void> {
    return this.starter.close();
  }
}

export const programSpec = (image: string, more: Partial<ProgramSpec> = {}): ProgramSpec => {
  const id = newId();
  return {
    id,
    label: `program-${id}`,
    labels: {},
    image,
    rights: 'program',
    user: 1000,
    limits: { memoryMb: 128, cpus: 1 },
    scratch: [{ path: '/tmp', mb: 16 }],
    workspace: null,
    folders: [],
    services: [],
    archive: null,
    writtenMb: 64,
    ...more,
  };
};
