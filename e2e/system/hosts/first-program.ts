import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import type { DialIn } from '@belay/containers';

/**
 * The first program of containers under test, in the place of the agent: it dials in as the agent does, again after each
 * break, and runs what it is told, with the effective ids of the sandbox’s programs.
 */
const source = `
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { connect as connectSecurely } from 'node:tls';
const AsyncFunction = (async () => {}).constructor;
const user = Number(process.env.BELAY_USER);
const { BELAY_CONNECTION: address, BELAY_TOKEN_FILE: tokenFile, BELAY_CA_FILE: trusted } = process.env;
const ca = trusted && readFileSync(trusted);
const token = tokenFile === undefined ? '' : 'authorization: Bearer ' + readFileSync(tokenFile, 'utf8') + '\\r\\n';
process.setgroups([]);
process.setegid(user);
process.seteuid(user);
const started = Date.now();
const { hostname: host, port } = address.startsWith('unix:') ? {} : new URL(address);
const target = host ? { host, port } : { path: address.slice('unix:'.length) };
let socket;
function dial() {
  socket = ca ? connectSecurely({ ...target, ca }) : connect(target);
  const answers = socket;
  socket.on('error', () => {});
  socket.write('GET /agent HTTP/1.1\\r\\nhost: agent\\r\\nconnection: Upgrade\\r\\nupgrade: websocket\\r\\n' +
    'x-belay-agent: ' + process.pid + '-' + started + '\\r\\n' + token + '\\r\\n');
  const lines = createInterface({ input: socket });
  lines.on('error', () => {});
  lines.on('line', async (line) => {
    if (!line.startsWith('{')) return;
    const { id, code } = JSON.parse(line);
    const answer = await new AsyncFunction('fs', code)(await import('node:fs')).then(
      (value) => ({ id, value: value ?? null }),
      (error) => ({ id, error: String(error) }),
    );
    answers.write(JSON.stringify(answer) + '\\n');
  });
}
dial();
setInterval(() => socket.destroyed && dial(), 50);
await new Promise(() => {});
`;

/** Makes Node run this program before, and in the place of, the one that a container begins with. */
export const asFirstProgram = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}`,
};

interface Answer {
  id: number;
  value?: unknown;
  error?: string;
}

/** The connection of such a program. */
export class FirstProgram {
  readonly #socket: Duplex;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  #last = 0;

  /** Accepts its dial. */
  constructor({ socket }: DialIn) {
    this.#socket = socket;
    socket.on('error', () => {});
    socket.once('end', () => socket.destroy());
    socket.once('close', () => {
      for (const { reject } of this.#asked.values()) reject(new Error('The program is gone.'));
    });
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n',
    );
    const lines = createInterface({ input: socket });
    lines.on('error', () => {});
    lines.on('line', (line) => {
      const { id, value, error } = JSON.parse(line) as Answer;
      const asked = this.#asked.get(id);
      this.#asked.delete(id);
      if (error === undefined) asked?.resolve(value);
      else asked?.reject(new Error(error));
    });
  }

  /** The value that the body of an async function returns in the container; `fs` is Node’s module. */
  run<T = null>(code: string): Promise<T> {
    const id = ++this.#last;
    const asked = Promise.withResolvers<unknown>();
    this.#asked.set(id, asked);
    this.#socket.write(`${JSON.stringify({ id, code })}\n`);
    return asked.promise as Promise<T>;
  }

  /** Whether it has no connection any more. */
  get isGone(): boolean {
    return this.#socket.destroyed;
  }
}
