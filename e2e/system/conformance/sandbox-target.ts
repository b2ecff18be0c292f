import { until } from '@belay/testing';
import type { OperationName, OperationOutput, OperationRequest } from '@belay/protocol';
import type { ConformanceTarget } from '../../../apps/agent/src/terminal/conformance/target.js';
import type { BelayServer, Followed } from '@belay/testkit';

/** A sandbox as a target of the conformance cases: user calls over REST, bytes from the log. */
export function sandboxTarget(server: BelayServer, session: Followed): ConformanceTarget {
  const { sessions } = server.client;
  const call = <N extends OperationName>(name: N, input: OperationRequest<N>) =>
    sessions.call(session.id, name, input);
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
        size: { columns, rows },
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
    const input = { path, encoding: 'base64', offset } as const;
    const page: OperationOutput<'files.read'> = await server.client.sessions.call(
      id,
      'files.read',
      input,
    );
    pages.push(Buffer.from(page.content, 'base64'));
    offset = page.next;
  }
  return Buffer.concat(pages);
}

/** Waits until the log has all output that the sandbox reported. */
async function printed(server: BelayServer, { id }: Followed, terminal: string): Promise<Buffer> {
  const { sessions } = server.client;
  const { terminals } = await sessions.call(id, 'terminal.list', {});
  const size = terminals.find((each) => each.terminal === terminal)?.size ?? 0;
  const read = async () => {
    const bytes = Buffer.from(await sessions.terminal(id, terminal).catch(() => Buffer.alloc(0)));
    return bytes.length >= size && bytes;
  };
  return until(`${size} bytes of ${terminal}`, read, { intervalMs: 50 });
}

/** Leaves the next case an empty workspace without terminals. */
export async function sweep(target: ConformanceTarget): Promise<void> {
  const close = async () => {
    const open = await target.list();
    await Promise.all(open.map(({ terminal }) => target.close(terminal)));
  };
  await close();
  await target.run('cd /workspace && rm -rf ..?* .[!.]* *', { terminal: 'sweeper' });
  await close();
}
