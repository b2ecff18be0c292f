import { createSocket } from 'node:dgram';
import { connect } from 'node:net';

export interface NetworkTarget {
  host: string;
  port: number;
  /** A name server, which answers a question. */
  udp?: boolean | undefined;
}

/** Of the name servers of the root. */
const question = Buffer.from('0001010000010000000000000000020001', 'hex');

/**
 * Whether this process can connect to an address, or gets an answer by UDP, within the time limit in ms; pods try it with
 * docker/agent/reaches.cjs. Never rejects.
 */
export async function canReach(
  { host, port, udp = false }: NetworkTarget,
  timeoutMs: number,
): Promise<boolean> {
  const signal = AbortSignal.timeout(timeoutMs);
  return udp ? answers({ host, port }, signal) : accepts({ host, port }, signal);
}

async function accepts(target: NetworkTarget, signal: AbortSignal): Promise<boolean> {
  const socket = connect({ ...target, signal });
  try {
    return await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).on('error', () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}

function answers({ host, port }: NetworkTarget, signal: AbortSignal): Promise<boolean> {
  const socket = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4', signal });
  return new Promise((resolve) => {
    socket.on('error', () => socket.close());
    socket.once('close', () => resolve(false));
    socket.once('message', () => {
      resolve(true);
      socket.close();
    });
    socket.send(question, port, host, (error) => error && socket.close());
  });
}
