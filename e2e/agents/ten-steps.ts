import { isEnded, type AgentProtocol, type Event } from '@belay/protocol';
import { killAgent, start, type BelayServer, type Followed } from '@belay/testkit';
import { until } from '@belay/testing';
import { screenText } from '../../apps/agent/src/terminal/scrollback-text.js';
import type { ProviderRequest } from '../../apps/server/src/models/testing/provider-server.js';
import type { PlayedModel } from './played-model.js';
import { commandsIn, killProcesses, peakMemory, placesOf } from './sandbox-processes.js';
import type { TestedAgent, ToolUse } from './tested-agents.js';

/** At least those of the agent’s terminal. */
const rows = 60;

/** One session of an agent, whose model and user are played step by step. */
export class TenSteps {
  #session!: Followed;
  #calls = 0;
  /** The last event before the current step. */
  #since = 0;
  /** How much of its terminal was looked at. */
  #printed = 0;

  constructor(
    private readonly server: BelayServer,
    private readonly model: PlayedModel,
    private readonly agent: TestedAgent,
  ) {}

  /** Starts the session, and stops it after the work. */
  async during(protocol: AgentProtocol, work: () => Promise<void>): Promise<void> {
    const { name, model } = this.agent;
    this.#session = await start(this.server, {
      task: 'Work in ten steps.',
      model,
      approvals: 'ask',
      agent: { name, protocol },
    });
    try {
      if (protocol === 'terminal') await this.#confirm('folder');
      expect((await this.model.asked()).text).toContain('Work in ten steps.');
      await work();
    } catch (error) {
      throw new Error(
        `${name} over ${protocol}:\n${this.#session.words()}\n${this.#session.terminal('agent').slice(-4000)}`,
        { cause: error },
      );
    } finally {
      this.#session.close();
      const { state } = await this.server.client.sessions.get(this.id);
      if (!isEnded(state)) await this.server.client.sessions.stop(this.id);
    }
  }

  get id(): string {
    return this.#session.id;
  }

  async command(): Promise<void> {
    const id = await this.#call(this.agent.run('printf one-%s 11 | tee one.txt'));
    await this.#decide(id);
    expect((await this.model.asked()).text).toContain('one-11');
    const result = await this.#result(id);
    expect(result.args).toMatchObject({
      ok: true,
      output: { text: expect.stringContaining('one-11') },
    });
    await this.#event('commit', result.seq);
  }

  /** Returns the number of the commit. */
  async edit(): Promise<number> {
    const id = await this.#call(this.agent.write('two.txt', 'two\n'));
    await this.model.asked();
    const result = await this.#result(id);
    expect(result.args).toMatchObject({ ok: true });
    const commit = await this.#event('commit', result.seq);
    expect(commit.message).toContain('two.txt');
    expect(await this.#read('two.txt')).toBe('two\n');
    return commit.seq;
  }

  async refusal(): Promise<void> {
    const id = await this.#call(this.agent.run('touch refused.txt'));
    await this.#decide(id, 'Not in this folder.');
    await this.#seesRefusal(id);
    const { args } = await this.#result(id);
    expect(args).toMatchObject({ ok: false, output: { code: 'rejected' } });
    expect(JSON.stringify(args)).toContain('Not in this folder.');
  }

  async #seesRefusal(id: string): Promise<void> {
    const { body, text } = await this.model.asked();
    // The provider sees the call that its model made, and that it was not allowed.
    const calls = JSON.stringify(
      callsIn(body).filter((call) => [call.id, call.call_id].includes(id)),
    );
    expect(calls).toContain('touch refused.txt');
    expect(calls).not.toContain('Belay');
    expect(text).toContain('Belay did not run touch refused.txt. The user did not allow this');
    await expect(this.#read('refused.txt')).rejects.toMatchObject({ code: 'not_found' });
  }

  /** False if the agent has no way to ask. */
  async question(): Promise<boolean> {
    if (!this.agent.ask) return false;
    await this.#call(this.agent.ask('Which colour?', ['Blue', 'Green']));
    const asked = await this.#event('ask');
    expect(asked.message).toContain('Which colour?');
    await this.#message('Green');
    expect((await this.model.asked()).text).toContain('Green');
    return true;
  }

  /** The user is asked as always; results are seen in the terminal and in the next request alone. */
  async commandInTerminal(): Promise<void> {
    const id = await this.#call(this.agent.run('printf one-%s 11 | tee one.txt'));
    await this.#decide(id);
    await this.#confirm('commands');
    expect((await this.model.asked()).text).toContain('one-11');
    expect(await this.#read('one.txt')).toBe('one-11');
  }

  async refusalInTerminal(): Promise<void> {
    const id = await this.#call(this.agent.run('touch refused.txt'));
    await this.#decide(id, 'Not in this folder.');
    await this.#confirm('commands');
    await this.#seesRefusal(id);
  }

  /** After the end of the agent’s turn, what its user types there begins the next one. */
  async messageInTerminal(): Promise<void> {
    await this.model.reply({ text: 'Finished.' });
    await this.#prints(/Finished/);
    await this.#type('onwards');
    await this.#pressEnter();
    expect((await this.model.asked()).text).toContain('onwards');
  }

  /** Whether the program itself continued its conversation, and was not told it. */
  async killOfProgram(): Promise<boolean> {
    const id = await this.#call(this.agent.run('echo five; sleep 345'));
    await this.#decide(id);
    await this.#runs('sleep 345');
    if (this.agent.loadsInLaterMinute) await this.#nextMinute();
    expect(await killProcesses(this.id, `/opt/agents/${this.agent.name}`)).toBeGreaterThan(0);
    await this.#interrupted();
    await this.#remembers('go on');
    expect(await commandsIn(this.id)).not.toContain('sleep 345');
    await this.#endTurn('I continued.');
    return !this.#session.words().includes('begins anew with a transcript');
  }

  async killOfAgent(): Promise<void> {
    await this.#message('Wait for long.');
    const id = await this.#call(this.agent.run('echo six; sleep 456'));
    await this.#decide(id);
    await this.#runs('sleep 456');
    await killAgent(this.id);
    await this.#state('failed');
    await this.server.client.sessions.restart(this.id);
    await this.#interrupted();
    await this.#remembers('go on');
    await this.#endTurn('I continued again.');
  }

  async rewind(seq: number): Promise<void> {
    await this.#message('Write a file.');
    const id = await this.#call(this.agent.run('echo later > nine.txt'));
    await this.#decide(id);
    await this.model.asked();
    expect((await this.#result(id)).args).toMatchObject({ ok: true });
    await this.#endTurn('Written.');
    await this.server.client.sessions.rewind(this.id, { seq, what: 'both' });
    await this.#message('Go on from here.');
    const text = await this.#remembers('Go on from here.');
    // What its first call printed, and nothing of later ones.
    expect(text).toContain('one-11');
    expect(text).not.toContain('nine.txt');
    expect(await this.#read('two.txt')).toBe('two\n');
    await expect(this.#read('nine.txt')).rejects.toMatchObject({ code: 'not_found' });
    await this.#endTurn('All is done.');
  }

  async keys(key: string): Promise<void> {
    expect(await placesOf(this.id, key)).toBe('');
    // The control: the search finds what the sandbox and the program’s environment have.
    expect(await placesOf(this.id, 'one-11')).toContain('/workspace/one.txt');
    expect(await placesOf(this.id, 'localhost,127.0.0.1,::1')).toMatch(/environ/);
  }

  /** A quarter of what a sandbox has by default remains for what the agent runs. */
  async memory(): Promise<void> {
    const peak = await peakMemory(this.id);
    // The control: that of Belay’s own process in the sandbox.
    expect(peak).toBeGreaterThan(50);
    expect(peak).toBeLessThan(1536);
  }

  /** Lets the model call a tool; returns the id of the call. */
  async #call(tool: ToolUse): Promise<string> {
    const number = ++this.#calls;
    const id = `call_${this.agent.name}_${number}`;
    await this.model.asked();
    this.#since = this.#session.events.at(-1)?.seq ?? 0;
    await this.model.reply({ text: `This is step ${number}.`, calls: [{ ...tool, id }] });
    return id;
  }

  /** If the agent asks its user this in its terminal: sees that it does and waits there, and confirms. */
  async #confirm(what: 'folder' | 'commands'): Promise<void> {
    const { confirms } = this.agent;
    if (confirms?.what !== what) return;
    await this.#prints(confirms.question);
    expect(this.model.isAsked).toBe(false);
    await this.#pressEnter();
  }

  /** Waits until the agent shows this in its terminal, apart from all that it printed when this was last called. */
  async #prints(text: RegExp): Promise<void> {
    // Programs draw a word in several parts, at positions.
    const printed = () =>
      screenText(Buffer.from(this.#session.terminal('agent').slice(this.#printed)), rows);
    await until(String(text), () => text.test(printed()), { state: printed });
    this.#printed = this.#session.terminal('agent').length;
  }

  /** Presses Enter until the agent goes on: programs ignore keys while they draw, and a fast one counts as pasted. */
  async #pressEnter(): Promise<void> {
    const pressed = async (): Promise<boolean> => {
      if (this.model.isAsked) return true;
      await this.#type('\r');
      return false;
    };
    await until('the next request', pressed, { intervalMs: 1_000 });
  }

  async #type(data: string): Promise<void> {
    await this.server.live.request('terminal.keys', {
      session: this.id,
      terminal: 'agent',
      data,
    });
  }

  async #decide(id: string, reason?: string): Promise<void> {
    await this.#session.event(({ action, args }) => action === 'approval' && args['id'] === id);
    const { sessions } = this.server.client;
    await sessions.answer(
      this.id,
      id,
      reason === undefined ? { verdict: 'approved' } : { verdict: 'rejected', reason },
    );
  }

  /** What the agent sends after a break, which contains this and what came before. */
  async #remembers(words: string): Promise<string> {
    const { text }: ProviderRequest = await this.model.asked();
    for (const known of ['Work in ten steps.', 'This is step 1.', words])
      expect(text).toContain(known);
    return text;
  }

  #interrupted(): Promise<Event> {
    return this.#session.event(
      (event) => event.action === 'turn' && event.args['end'] === 'interrupted',
      this.#since,
    );
  }

  async #endTurn(text: string): Promise<void> {
    this.#since = this.#session.events.at(-1)?.seq ?? 0;
    await this.model.reply({ text });
    await this.#event('end');
    await this.#state('finished');
  }

  async #message(text: string): Promise<void> {
    this.#since = this.#session.events.at(-1)?.seq ?? 0;
    await this.server.client.sessions.message(this.id, { text });
  }

  #result(id: string): Promise<Event> {
    return this.#session.event((event) => event.action === 'result' && event.id === id);
  }

  #event(action: string, after = this.#since): Promise<Event> {
    return this.#session.event((event) => event.action === action, after);
  }

  #state(state: string): Promise<Event> {
    return this.#session.event(
      (event) => event.action === 'state' && event.args['state'] === state,
      this.#since,
    );
  }

  async #runs(command: string): Promise<void> {
    await until(command, async () => (await commandsIn(this.id)).includes(command), {
      intervalMs: 200,
    });
  }

  /** Resolves when the minute in which the conversation began is over. */
  async #nextMinute(): Promise<void> {
    const { time } = await this.#event('turn', 0);
    const minuteOf = (date: Date) => date.toISOString().slice(0, 16);
    await until('the next minute', () => minuteOf(new Date()) !== minuteOf(new Date(time)), {
      timeoutMs: 70_000,
      intervalMs: 200,
    });
  }

  async #read(path: string): Promise<string> {
    const { content } = await this.server.client.sessions.call(this.id, 'files.read', { path });
    return content;
  }
}

/** The calls in a request, in whatever format: they have an id and a name, and results have no input. */
function callsIn(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(callsIn);
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Record<string, unknown>;
  const isCall = ['input', 'arguments', 'args', 'function'].some((name) => name in fields);
  return [...(isCall ? [fields] : []), ...Object.values(fields).flatMap(callsIn)];
}
