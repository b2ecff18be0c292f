import type { AgentProgram, SessionSettings } from '@belay/protocol';
import type { ServerConnection } from '../server-connection.js';

interface SessionProgramOptions {
  connection: Pick<ServerConnection, 'call'>;
  program: AgentProgram;
  settings: Pick<SessionSettings, 'model'>;
}

/** The program of a session: its commands, variables and files name the model, which the user may change. */
export class SessionProgram {
  readonly #connection: SessionProgramOptions['connection'];
  #program: AgentProgram;
  /** The model that `#program` names. */
  #named: string;
  /** The session’s. */
  model: string;

  constructor({ connection, program, settings }: SessionProgramOptions) {
    this.#connection = connection;
    this.#program = program;
    this.#named = settings.model;
    this.model = settings.model;
  }

  /** Whether the program was last got for another model than the session’s. */
  get isOutdated(): boolean {
    return this.#named !== this.model;
  }

  /** How to start it for the session’s model. Rejects with a sentence if the server cannot say any more. */
  async current(): Promise<AgentProgram> {
    if (!this.isOutdated) return this.#program;
    const { model } = this;
    const { token } = this.#program;
    const { program } = await this.#connection.call('program.current', { token });
    this.#program = program;
    this.#named = model;
    return program;
  }
}
