import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { BelayServer, containerOf, start, type Followed } from '@belay/testkit';
import { ProviderServer, streaming } from '../../apps/server/src/models/testing/provider-server.js';
import { chatCompletions } from '../../apps/server/src/models/testing/provider-wires.js';

/** What the model says to its session’s own agent, so that it leaves the sandbox alone. */
const question = { id: 'a1', name: 'ask', input: '{"question":"Done?"}' };
/** The key of the played provider, which only the server knows. */
export const key = `sk-hidden-${randomBytes(12).toString('hex')}`;

/** The session’s sandbox holds the key nowhere. The control: it holds its own token. */
export async function expectNoKey(session: Followed, own: string): Promise<void> {
  // The patterns do not match themselves.
  const [hidden, ownToken] = ['sk-hid[d]en', `${own.slice(0, 10)}[${own[10]}]`];
  expect(await found(session, '0', [hidden])).toEqual([]);
  const ofPrograms = await found(session, '1000', [hidden, ownToken]);
  expect([...new Set(ofPrograms)]).toEqual([own.slice(0, 11)]);
}

/** What processes and files have, as a user of the container may read it: its programs’ (1000), or the agent’s (0). */
const found = async (
  { id }: Followed,
  user: '0' | '1000',
  what: readonly string[],
): Promise<string[]> => {
  const grep = `LC_ALL=C grep -aohE '${what.join('|')}'`;
  const processes = `cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | ${grep}`;
  const files = `${grep} -r / --exclude-dir=proc --exclude-dir=sys 2>/dev/null`;
  const Cmd = ['sh', '-c', `${processes}; ${files}`];
  const container = await containerOf(id);
  const exec = await container.exec({ User: user, Cmd, AttachStdout: true, Tty: true });
  return (await text(await exec.start({ Tty: true }))).split(/\s+/).filter(Boolean);
};

/** A server whose model is played. */
export interface GatewayScene {
  readonly provider: ProviderServer;
  readonly server: BelayServer;
  /** Starts a session whose programs may call its model, and whose agent waits. */
  open(budgets?: object): Promise<Followed>;
  /** The output of a command in the session’s sandbox. */
  run(session: Followed, command: string): Promise<string>;
  /** The token with which the programs of a session call its model. */
  tokenOf(session: Followed): Promise<string>;
}

export const says = (reply: object) => streaming(chatCompletions.reply(reply));

export function describeGateway(title: string, tests: (scene: GatewayScene) => void): void {
  describe(title, () => {
    let provider: ProviderServer;
    let server: BelayServer;
    beforeAll(async () => {
      provider = await ProviderServer.open();
      const environment = chatCompletions.environment(provider.url);
      server = new BelayServer({ ...environment, OPENAI_COMPATIBLE_API_KEY: key });
      await server.start();
    });
    afterAll(async () => {
      await server?.dispose();
      await provider?.close();
    });

    const open = async (budgets = {}): Promise<Followed> => {
      provider.answer(says({ calls: [question] }));
      const { model } = chatCompletions;
      const session = await start(server, { task: 'Wait', model, modelForPrograms: true, budgets });
      await session.state('waiting');
      return session;
    };
    const run = async ({ id }: Followed, command: string): Promise<string> => {
      const { sessions } = server.client;
      return (await sessions.call(id, 'terminal.run', { command, wait: 120 })).text.trim();
    };
    const tokenOf = (session: Followed) => run(session, 'echo $OPENAI_API_KEY');

    tests({
      open,
      run,
      tokenOf,
      get provider() {
        return provider;
      },
      get server() {
        return server;
      },
    });
  });
}
