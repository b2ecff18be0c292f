import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { resultText, type Event, type Message, type SessionSettingsInput } from '@belay/protocol';
import { readEnvironment } from '../environment.js';
import { openServices } from '../open-services.js';
import { Stage, type ScriptedReply, type StageOptions } from './stage.js';

/** What a played model does, and what it must be sent: each situation is named after what the model experiences. */
export interface Situation {
  name: string;
  /** The files of a real workspace, with real terminals and files; without it, `handlers` answer the calls. */
  files?: Record<string, string>;
  handlers?: StageOptions['handlers'];
  approve?: StageOptions['approve'];
  settings?: Partial<SessionSettingsInput>;
  /** The log that a new agent continues from. */
  events?: Event[];
  /** The model’s replies, in order; after them it calls finish. */
  turns: (seat: Seat) => ScriptedReply[];
  /** Runs beside the model. */
  meanwhile?: (seat: Seat) => Promise<void>;
  /** The event that ends the situation. Default: `finish`. */
  until?: string;
  /**
   * What is new in the requests, in order, as the model reads it: exactly, or by a pattern; null for what other
   * situations cover. Without it, only `also` counts.
   */
  told?: readonly (string | RegExp | null)[];
  /** The prompt may begin anew, because it is shortened or rewound. */
  breaks?: true;
  /** Further expectations. */
  also?: (seat: Seat) => void;
}

/** The played model’s place in a session. */
export class Seat {
  readonly stage: Stage;
  readonly #folder: string | null;
  #isClosed = false;

  constructor(situation: Situation) {
    const { files, handlers, approve, settings, events } = situation;
    this.#folder = files ? mkdtempSync(join(tmpdir(), 'belay-seat-')) : null;
    const turns: ScriptedReply[] = [];
    this.stage = new Stage({
      turns,
      settings: { approvals: 'auto', ...settings },
      ...(handlers && { handlers }),
      ...(approve && { approve }),
      ...(events && { events, epoch: 2 }),
      ...(this.#folder !== null && { createServices: this.#services(this.#folder, files ?? {}) }),
    });
    turns.push(...situation.turns(this));
  }

  /** What is new in each request, as the model reads it. */
  get told(): string[] {
    const requests = this.stage.requests.filter(({ purpose }) => purpose === 'turn');
    return requests.map(({ messages }, index) => {
      const before = requests[index - 1]?.messages ?? messages.slice(0, 1);
      const known = samePrefix(before, messages);
      return messages
        .slice(known)
        .filter(({ role }) => role !== 'assistant')
        .map(readText)
        .join('\n---\n');
    });
  }

  /** The first request that does not begin with the one before it; null if all do. */
  get broken(): number | null {
    const requests = this.stage.requests.filter(({ purpose }) => purpose === 'turn');
    const found = requests.findIndex(({ messages }, index) => {
      const before = requests[index - 1]?.messages ?? [];
      return samePrefix(before, messages) < before.length;
    });
    return found < 0 ? null : found;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#folder !== null) await this.stage.server.call('shutdown', {}).catch(() => undefined);
    await this.stage.close();
    if (this.#folder !== null)
      rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #services(folder: string, files: Record<string, string>): StageOptions['createServices'] {
    const workspace = join(folder, 'workspace');
    mkdirSync(join(folder, 'state'));
    mkdirSync(workspace);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(workspace, path)), { recursive: true });
      writeFileSync(join(workspace, path), text);
    }
    const environment = readEnvironment({
      PATH: process.env['PATH'],
      HOME: folder,
      BELAY_CONNECTION: 'unix:/none',
      BELAY_WORKSPACE: workspace,
      BELAY_STATE: join(folder, 'state'),
    });
    return (session) => openServices(environment, session);
  }
}

/** A message as text: results as providers get them. */
export function readText(message: Message): string {
  if (message.role !== 'tool') return message.text;
  return message.results
    .map((result) => `${result.operation}${result.failed ? ' failed' : ''}: ${resultText(result)}`)
    .join('\n---\n');
}

function samePrefix(before: readonly Message[], after: readonly Message[]): number {
  const end = before.findIndex(
    (message, index) => JSON.stringify(message) !== JSON.stringify(after[index]),
  );
  return end < 0 ? before.length : end;
}
