import { connect, type Socket } from 'node:net';
import { AppError, type ErrorCode, type ProgramAnswer, type ProgramRequest } from '@belay/protocol';

/**
 * Opens a stream to the server, once the server grants the request. Rejects with the server’s reason as an `AppError`.
 */
export function askServer(path: string, request: ProgramRequest): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    let answer = Buffer.alloc(0);
    const broken = (): void => {
      socket.destroy();
      reject(new AppError('unavailable', 'Belay’s server cannot be reached.'));
    };
    const read = (chunk: Buffer): void => {
      answer = Buffer.concat([answer, chunk]);
      const end = answer.indexOf(10);
      if (end < 0) return;
      socket.off('data', read).off('close', broken).off('error', broken).pause();
      // The stream’s user sees it close; an error without a listener would end the program.
      socket.on('error', () => socket.destroy());
      const { error } = JSON.parse(answer.subarray(0, end).toString()) as ProgramAnswer;
      if (error) {
        socket.destroy();
        return reject(new AppError(error.code as ErrorCode, error.message));
      }
      const rest = answer.subarray(end + 1);
      if (rest.length > 0) socket.unshift(rest);
      resolve(socket);
    };
    socket.on('data', read).once('close', broken).once('error', broken);
    socket.write(`${JSON.stringify(request)}\n`);
  });
}
