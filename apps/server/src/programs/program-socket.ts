import { createServer, type Socket } from 'node:net';
import { writeFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { hosts as hostsFile } from '@belay/containers';
import { ConnectionFolder } from '@belay/host';
import {
  AppError,
  errorFrom,
  ignoreError,
  programRequest,
  type ProgramAnswer,
  type ProgramRequest,
} from '@belay/protocol';

/** Takes over the stream of a granted request. */
export type TakeStream = (stream: Duplex) => void;

/** Services for a program in a container; each rejects with an `AppError` when it is refused. */
export interface ProgramServices {
  connect(target: { host: string; port: number }): Promise<TakeStream>;
  /** For the files that the program leaves. */
  output?(): Promise<TakeStream>;
}

export interface ProgramSocket {
  /** The folder to mount. */
  folder: string;
  close(): Promise<void>;
}

/** The number of open connections of one program. */
const maxConnections = 256;
const longestRequest = 1_000;
const requestTimeoutMs = 10_000;

/** The name that `startProgram` of the agent’s package expects. */
const socketFile = 'server.sock';

/**
 * Listens for one program in a container, at a Unix socket in a folder that is mounted only there. A connection begins
 * with one line that states its purpose; the response is one line, followed by bytes.
 */
export async function openProgramSocket(
  { root, id, hosts }: { root: string; id: string; hosts: string },
  services: ProgramServices,
): Promise<ProgramSocket> {
  const folder = new ConnectionFolder(root, id);
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (sockets.size >= maxConnections) return void socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    void serve(socket, services);
  });
  try {
    await folder.make();
    await folder.place(hostsFile.file, 0o644, (path) => writeFile(path, hosts, { flag: 'wx' }));
    // The container’s user has no account here; access is limited by the folder.
    await folder.listen(socketFile, server);
  } catch (error) {
    server.close();
    await folder.remove().catch(ignoreError('the first failure is reported'));
    throw error;
  }
  return {
    folder: folder.path,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await folder.remove();
    },
  };
}

/** Never rejects. */
async function serve(socket: Socket, services: ProgramServices): Promise<void> {
  let granted = false;
  try {
    const take = await taken(await requestOf(socket), services);
    granted = true;
    socket.write(line({ error: null }));
    take(socket);
  } catch (error) {
    if (granted) return void socket.destroy();
    const { code, message } = errorFrom(error);
    socket.end(line({ error: { code, message } })).resume();
    setTimeout(() => socket.destroy(), requestTimeoutMs).unref();
  }
}

async function taken(request: ProgramRequest, services: ProgramServices): Promise<TakeStream> {
  if (request.kind === 'connect') return services.connect(request);
  if (services.output) return services.output();
  throw new AppError('forbidden', 'Requests of this program are refused.');
}

const line = (answer: ProgramAnswer): string => `${JSON.stringify(answer)}\n`;

function requestOf(socket: Socket): Promise<ProgramRequest> {
  return new Promise((resolve, reject) => {
    let text = Buffer.alloc(0);
    const stop = (): void => {
      clearTimeout(timer);
      socket.off('data', read).off('close', gone).off('end', gone).pause();
    };
    const fail = (why: string): void => {
      stop();
      reject(new AppError('invalid_input', why));
    };
    const gone = (): void => fail('It left.');
    const read = (chunk: Buffer): void => {
      text = Buffer.concat([text, chunk]);
      const end = text.indexOf(10);
      if ((end < 0 ? text.length : end) > longestRequest) return fail('The request is too long.');
      if (end < 0) return;
      stop();
      const rest = text.subarray(end + 1);
      if (rest.length > 0) socket.unshift(rest);
      try {
        resolve(programRequest.parse(JSON.parse(text.subarray(0, end).toString())));
      } catch {
        reject(new AppError('invalid_input', 'The request cannot be read.'));
      }
    };
    const timer = setTimeout(() => fail('No request came.'), requestTimeoutMs).unref();
    socket.on('data', read).once('close', gone).once('end', gone);
  });
}
