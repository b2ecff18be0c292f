import { spawn, type IPty } from '@lydell/node-pty';
import { Terminal } from '@xterm/headless';
import { until } from '@belay/testing';
import { built, describeSystem, run, script, start, type BelayServer } from '@belay/testkit';

/** A user at a terminal who sees what a terminal emulator displays. */
class TerminalUser {
  readonly #pty: IPty;
  readonly #screen = new Terminal({ cols: 90, rows: 30, allowProposedApi: true });
  raw = '';
  code: number | undefined;

  constructor(server: BelayServer, ...args: string[]) {
    this.#pty = spawn(process.execPath, [built('apps/cli/dist/bundle/belay.cjs'), ...args], {
      cols: 90,
      rows: 30,
      env: { ...process.env, BELAY_DATA: server.data, TERM: 'xterm-256color' },
    });
    this.#pty.onData((data) => {
      this.raw += data;
      this.#screen.write(data);
    });
    this.#pty.onExit(({ exitCode }) => (this.code = exitCode));
  }

  get text(): string {
    const { active } = this.#screen.buffer;
    const rows = Array.from({ length: this.#screen.rows }, (_, row) =>
      active.getLine(active.baseY + row)?.translateToString(true),
    );
    return rows.join('\n');
  }

  sees(what: string | RegExp): Promise<unknown> {
    const seen = () => (typeof what === 'string' ? this.text.includes(what) : what.test(this.text));
    return until(`the screen shows ${what}`, seen, { state: () => this.text });
  }

  types(keys: string): void {
    this.#pty.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  kill(): void {
    if (this.code === undefined) this.#pty.kill('SIGKILL');
  }
}

describeSystem('a session on the whole terminal', (server) => {
  it('shows chat and terminal, asks, takes messages and keys, and leaves the screen as it was', async () => {
    const model = script(server.data, [
      { say: 'Hello there.', calls: [run('echo from the agent'), run('echo again')] },
      { finish: 'first' },
      { finish: 'second answer' },
    ]);
    const session = await start(server, { task: 'Greet', model, approvals: 'ask' });
    await session.state('waiting');
    const person = new TerminalUser(server, 'attach', session.id);
    try {
      await person.sees('Hello there.');
      await person.sees(/Allow terminal\.run\?[^]*echo from the agent[^]*\[y\]es/);
      const answers = () => session.events.filter(({ action }) => action === 'approve');
      const answerBoth = () => {
        if (answers().length < 2) person.types('\u0015y');
        return answers().length === 2;
      };
      await until('both calls are answered', answerBoth, { intervalMs: 100 });
      const [first = 0, second = 0] = answers().map(({ time }) => Date.parse(time));
      // The keys that came right after the first answer were not meant for the second call.
      expect(second - first).toBeGreaterThan(700);
      await person.sees('■ finished');
      person.resize(120, 24);
      await person.sees(/│/);
      await person.sees('from the agent');
      person.types('\u0015What now?\r');
      await person.sees('second answer');
      // Quitting before the end would be reported by another exit code.
      await person.sees(/^ *finished · Greet · 3 steps/);
      person.types('\u001bOP');
      await person.sees('show or hide this help');
      person.types('\u001bOP');
      person.types('\u0003');
      await until('it has ended', () => person.code !== undefined);
      expect(person.code).toBe(0);
      expect(person.raw).toContain('\u001b[?1049h');
      await until('the screen is as it was', () => person.raw.trimEnd().endsWith('\u001b[?1049l'));
    } finally {
      person.kill();
      session.close();
    }
  });
});
