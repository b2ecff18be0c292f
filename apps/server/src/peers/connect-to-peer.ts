import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { AppError } from '@belay/protocol';
import type { LiveServer } from '../storage/live-servers.js';
import { hostAndPort } from './host-and-port.js';
import { introductionLine, type PeerIntroduction } from './peer-introduction.js';

/** How long another server may take to accept a connection, in milliseconds. */
const acceptMs = 2_000;
/** The answer to a connection that is served from here on. */
export const accepted = 'ok\n';

/**
 * A connection that another server has accepted: paused, and nothing of its answer was read. Throws `unavailable` when
 * that server does not accept it: it has ended, is about to begin, or does not do what the introduction asks for.
 */
export async function connectToPeer(
  { address, key }: Pick<LiveServer, 'address' | 'key'>,
  introduction: PeerIntroduction,
): Promise<Socket> {
  const { host, port } = hostAndPort(address);
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
  socket.on('error', () => socket.destroy());
  socket.write(introductionLine(key, introduction));
  const answered = once(socket, 'data', { signal: AbortSignal.timeout(acceptMs) });
  // A refusal ends only its side of the connection.
  const refused = ['end', 'close'].map((event) => once(socket, event));
  const [answer] = (await Promise.race([answered, ...refused]).catch(() => [])) as unknown[];
  socket.pause();
  if (Buffer.isBuffer(answer) && answer.toString('latin1') === accepted) return socket;
  socket.destroy();
  throw new AppError(
    'unavailable',
    'The server of this session does not answer: try again in a few seconds.',
  );
}
