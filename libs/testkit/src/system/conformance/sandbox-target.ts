import { terminalOperations } from '@belay/protocol';
import type { z } from 'zod';
import type { ConformanceTarget } from '../../../../../apps/agent/src/terminal/conformance/target.js';
import type { Followed } from '../../follow.js';
import type { BelayServer } from '../../server-process.js';

type Operations = typeof terminalOperations;
type Input<N extends keyof Operations> = z.input<Operations[N]['input']>;
type Output<N extends keyof Operations> = z.output<Operations[N]['output']>;

/** A sandbox as the conformance cases see it: a person's calls over REST, bytes out of the log. */
export function sandboxTarget(server: BelayServer, session: Followed): ConformanceTarget {
  const { sessions } = server.client;
  const call = async <N extends keyof Operations>(name: N, input: Input<N>) =>
    terminalOperations[name].output.parse(
      await sessions.call(session.id, name, input),
    ) as Output<N>;
  return {
    run: (command, more) => call('terminal.run', { command, ...more }),
    input: (input) => call('terminal.input', input),
    read: (input = {}) => call('terminal.read', input),
    interrupt: (input = {}) => call('terminal.interrupt', input),
    close: (terminal) => call('terminal.close', { terminal }),
    list: async () => (await call('terminal.list', {})).terminals,
    resize: async (terminal, columns, rows) => {
      await server.live.request('terminal.fit', {
        session: session.id,
        terminal,
        room: { columns, rows },
      });
    },
    writeFile: async (path, bytes) => {
      const content = Buffer.from(bytes).toString('base64');
      await sessions.call(session.id, 'files.write', { path, content, encoding: 'base64' });
    },
    readFile: (path) => readFile(server, session, path),
    printed: (terminal) => printed(server, session, terminal),
    countEvents: async () => (await sessions.get(session.id)).lastSeq,
  };
}

async function readFile(server: BelayServer, { id }: Followed, path: string): Promise<Buffer> {
  const pages: Buffer[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const input = { path, encoding: 'base64', offset };
    const page = (await server.client.sessions.call(id, 'files.read', input)) as {
      content: string;
      next: number | null;
    };
    pages.push(Buffer.from(page.content, 'base64'));
    offset = page.next;
  }
  return Buffer.concat(pages);
}

/** All that the sandbox says was printed; the last of it may still be on its way into the log. */
async function printed(server: BelayServer, { id }: Followed, terminal: string): Promise<Buffer> {
  const { sessions } = server.client;
  const { terminals } = terminalOperations['terminal.list'].output.parse(
    await sessions.call(id, 'terminal.list', {}),
  );
  const size = terminals.find((each) => each.terminal === terminal)?.size ?? 0;
  for (let turn = 0; ; turn += 1) {
    const bytes = Buffer.from(await sessions.terminal(id, terminal).catch(() => Buffer.alloc(0)));
    if (bytes.length >= size || turn === 200) return bytes;
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Leaves the next case an empty workspace and no terminal. */
export async function sweep(target: ConformanceTarget): Promise<void> {
  const close = async () => {
    const open = await target.list();
    await Promise.all(open.map(({ terminal }) => target.close(terminal)));
  };
  await close();
  await target.run('cd /workspace && rm -rf ..?* .[!.]* *', { terminal: 'sweeper' });
  await close();
}
