import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentProgram, Event, SessionSettingsInput } from '@belay/protocol';
import { readEnvironment } from '../../../environment.js';
import { fakeProgram } from '../../../testing/fake-program.js';
import { RealServices } from '../../../testing/real-services.js';
import { Stage, type StageOptions } from '../../../testing/stage.js';

/** One message of the client, by its kind; an answer to the program is text. */
interface Received {
  answer?: string;
  prompt?: { type: string; text?: string; data?: string }[];
  [kind: string]: unknown;
}

export interface AcpStageOptions extends Pick<
  StageOptions,
  'approve' | 'beforeAppend' | 'blobs' | 'conversation' | 'events' | 'epoch'
> {
  /** The first message: what the program does. */
  task: unknown[] | string;
  settings?: Partial<SessionSettingsInput>;
  /** Variables of the fake agent. */
  env?: Record<string, string>;
  /** Its further variables once the user has chosen another model. */
  laterEnv?: Record<string, string>;
  program?: Partial<AgentProgram>;
  command?: string[];
  /** Real files, terminals and history. */
  real?: true;
  /** The folder of an earlier stage. */
  folder?: string;
}

const fakeAgent = join(__dirname, 'fake-agent.mjs');

/** A session whose agent is a program: a process that speaks ACP. */
export class AcpStage {
  readonly stage: Stage;
  readonly folder: string;
  readonly workspace: string;
  /** Used with the option `real`. */
  readonly real = new RealServices(() => this.#environment());

  constructor(options: AcpStageOptions) {
    const { task, settings, env = {}, laterEnv, command, real, ...more } = options;
    this.folder = options.folder ?? mkdtempSync(join(tmpdir(), 'belay-acp-'));
    this.workspace = join(this.folder, 'workspace');
    for (const name of ['workspace', 'state', 'home'])
      mkdirSync(join(this.folder, name), { recursive: true });
    const home = join(this.folder, 'home');
    const programWith = (variables: Record<string, string>): AgentProgram => {
      const launch = {
        command: command ?? [process.execPath, fakeAgent],
        env: { FAKE_HOME: home, ...variables },
        files: [{ path: join(home, 'settings', 'fake.json'), text: '{"base":"http://127.0.0.1"}' }],
        newSession: { _meta: { fake: { strict: true } } },
      };
      return fakeProgram(launch, { home, resume: 'resume', ...options.program });
    };
    const environment = {
      workspace: this.workspace,
      env: { PATH: process.env['PATH'] ?? '', HOME: home },
    };
    this.stage = new Stage({
      turns: [],
      environment,
      settings: {
        approvals: 'auto',
        ...settings,
        task: typeof task === 'string' ? task : JSON.stringify(task),
      },
      ...(real && { createServices: this.real.open }),
      ...more,
      program: programWith(env),
      ...(laterEnv && { laterProgram: programWith({ ...env, ...laterEnv }) }),
    });
  }

  /** What the program was sent, in order. */
  get received(): Received[] {
    const file = join(this.folder, 'home', 'received.jsonl');
    if (!existsSync(file)) return [];
    // What follows the last line break is still being written.
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Received);
  }

  get answers(): string[] {
    return this.received.flatMap(({ answer }) => answer ?? []);
  }

  /** The texts of each prompt. */
  get prompts(): string[][] {
    return this.received.flatMap(({ prompt }) =>
      prompt ? [prompt.map(({ text, type }) => text ?? type)] : [],
    );
  }

  events(...actions: string[]): Event[] {
    return this.stage.log.filter(({ action }) => actions.includes(action));
  }

  /** Resolves with the nth end of a turn. */
  async ended(nth = 1): Promise<Event> {
    const ends = () => this.events('turn').filter(({ args }) => args['change'] === 'ended');
    await this.stage.until(() => ends().length >= nth);
    return ends()[nth - 1] as Event;
  }

  /** Ends the agent’s process, whose program ends with it; the folder stays if another stage continues. */
  async close(keep = false): Promise<void> {
    await this.stage.server.call('shutdown', {}).catch(() => undefined);
    await this.stage.close();
    if (!keep) rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #environment() {
    return readEnvironment({
      PATH: process.env['PATH'],
      HOME: this.folder,
      BELAY_CONNECTION: 'unix:/none',
      BELAY_WORKSPACE: this.workspace,
      BELAY_STATE: join(this.folder, 'state'),
    });
  }
}
