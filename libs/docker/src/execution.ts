import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { dockerError } from './errors.js';

/** An additional program in a container. */
export interface ExecutedProgram {
  command: readonly string[];
  user: string;
  env: readonly string[];
  /** Its working folder; the container’s own when omitted. */
  folder?: string;
  /** Whether bytes written to its `output` become its input. */
  takesInput?: boolean;
}

export interface Execution {
  output: Duplex;
  exitCode(): Promise<number | null>;
}

/** See `DockerClient.exec`. Rejects with the engine’s error; `exitCode`, with an `AppError`. */
export async function execute(
  container: Docker.Container,
  { command, user, env, folder, takesInput = false }: ExecutedProgram,
): Promise<Execution> {
  const made = await container.exec({
    Cmd: [...command],
    User: user,
    Env: [...env],
    ...(folder !== undefined && { WorkingDir: folder }),
    AttachStdin: takesInput,
    AttachStdout: true,
    AttachStderr: true,
  });
  const output = await made.start({ hijack: takesInput, stdin: takesInput });
  const exitCode = async (): Promise<number | null> => {
    const { Running, ExitCode } = await made.inspect().catch((error: unknown) => {
      throw dockerError(error);
    });
    return Running ? null : ExitCode;
  };
  return { output, exitCode };
}
