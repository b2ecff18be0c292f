import { agentCalls, serverCalls } from '@belay/protocol';
import { memoryConnections, type RpcConnection } from '@belay/rpc';
import { AgentCalls } from '../sandboxes/connection/agent-calls.js';
import { Sandbox } from '../sandboxes/lifecycle/sandbox.js';
import type { TestServer } from './server.js';

/**
 * A program that acts as the agent of a session; its calls go through the server’s real handlers.
 */
export class HostileAgent {
  readonly connection: RpcConnection<typeof agentCalls, typeof serverCalls>;
  readonly #server: TestServer;
  readonly #epoch: number;
  #n = 0;

  private constructor(
    server: TestServer,
    readonly session: string,
    epoch: number,
  ) {
    const { server: serving, agent } = memoryConnections({
      server: serverCalls,
      agent: agentCalls,
    });
    this.connection = agent;
    this.#server = server;
    this.#epoch = epoch;
    const sandbox = new Sandbox({ session, epoch });
    sandbox.adopt();
    server.app.get(AgentCalls).serve(serving, sandbox);
    const nothing = () => Promise.resolve({});
    agent.serve({
      'session.begin': nothing,
      'session.events': nothing,
      'operation.call': () => Promise.resolve({ output: {} }),
      'terminal.keys': nothing,
      'terminal.resize': nothing,
      'terminal.hold': nothing,
      'terminal.open': nothing,
      'browser.watch': nothing,
      'copies.checkOut': () => Promise.resolve({ commit: 'aaaaaaa', without: [] }),
      'copies.flush': nothing,
      'check.run': () => Promise.reject(new Error('No check is run.')),
      shutdown: nothing,
    });
  }

  static async connect(server: TestServer, session: string): Promise<HostileAgent> {
    const agent = new HostileAgent(server, session, await server.log.epoch(session));
    const { session: own, connection } = agent;
    await connection.call('hello', {
      version: '1',
      session: own,
      epoch: agent.#epoch,
      lastSeq: await server.log.lastSeq(own),
    });
    return agent;
  }

  /** Writes an event to the log. */
  async write(action: string, args: object, id?: string): Promise<void> {
    this.#n += 1;
    const time = new Date().toISOString();
    const event = { n: this.#n, time, action, args: { ...args }, message: action };
    const events = [{ ...event, ...(id !== undefined && { id }) }];
    const { session } = this;
    try {
      await this.connection.call('events.append', { session, epoch: this.#epoch, events });
    } catch (error) {
      this.#n -= 1;
      throw error;
    }
  }

  /** Sends any input, bypassing the types. */
  async send(name: keyof typeof serverCalls, input: object): Promise<unknown> {
    return this.connection.call(name, input as never);
  }

  /** The questions that are shown to the user. */
  async questions() {
    return (await this.#server.log.summary(this.session)).waitingFor;
  }

  async answer(id: string, verdict: 'approved' | 'rejected'): Promise<void> {
    const path = `/api/sessions/${this.session}/approvals/${encodeURIComponent(id)}`;
    await this.#server.json('POST', path, { verdict });
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}
