import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isEvent, type Event } from '@belay/protocol';
import { readEnvironment } from '../environment.js';
import { openServices } from '../open-services.js';
import { Stage, type ScriptedReply } from './stage.js';

/** The text of n.txt: twelve lines that name their numbers. */
export const numbers = Array.from({ length: 12 }, (_, index) => `line ${index + 1}\n`).join('');

/** A call that reads a file. */
export const read = (path: string) => ({ operation: 'files.read', input: { path } });

/** A call that replaces a line of n.txt. */
export const replaceLine = (from: number, line: string) => ({
  operation: 'files.edit',
  input: { path: 'n.txt', change: 'REPLACE', from, content: [line] },
});

/** An agent with its real services in a workspace of two files, which a user changes meanwhile. */
export class ByHandBench {
  readonly #folder = mkdtempSync(join(tmpdir(), 'belay-by-hand-'));
  stage!: Stage;

  /** `path` is where the programs of its terminals are found. */
  constructor(private readonly path: string | undefined) {
    mkdirSync(join(this.#folder, 'workspace'));
    mkdirSync(join(this.#folder, 'state'));
    this.put('n.txt', numbers);
    this.put('other.txt', 'precious\n');
  }

  /** Starts the agent, whose model replies so; with the events of an earlier one, it goes on. */
  play(
    turns: ScriptedReply[],
    { events, ...settings }: { events?: Event[]; planFile?: string } = {},
  ) {
    const environment = readEnvironment({
      PATH: this.path,
      HOME: this.#folder,
      BELAY_CONNECTION: 'unix:/none',
      BELAY_WORKSPACE: join(this.#folder, 'workspace'),
      BELAY_STATE: join(this.#folder, 'state'),
    });
    const createServices = (session: Parameters<typeof openServices>[1]) =>
      openServices(environment, session);
    this.stage = new Stage({
      createServices,
      turns,
      settings,
      ...(events && { events, epoch: 2 }),
    });
  }

  put(path: string, text: string): void {
    writeFileSync(join(this.#folder, 'workspace', path), text);
  }

  text(path: string): string {
    return readFileSync(join(this.#folder, 'workspace', path), 'utf8');
  }

  /** The user inserts a line of n.txt as its second one. */
  insertByHand(id: string, line: string) {
    const input = { path: 'n.txt', change: 'INSERT', from: 2, content: [line] };
    return this.stage.call(id, 'files.edit', input);
  }

  /** What came of a call. */
  result(id: string) {
    return this.stage.log.find((event) => isEvent(event, 'result') && event.id === id)?.args;
  }

  async leave(): Promise<void> {
    await this.stage.server.call('shutdown', {}).catch(() => undefined);
    await this.stage.close();
  }

  async close(): Promise<void> {
    await this.leave();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
