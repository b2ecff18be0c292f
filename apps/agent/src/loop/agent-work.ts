import {
  callOf,
  operationNamed,
  runResultOf,
  userCallPrefix,
  type Event,
  type EventArgs,
  type EventOf,
} from '@belay/protocol';

/** What the agent has done in the workspace, as part of a conversation’s fold. */
export class AgentWork {
  /** Files that its calls changed, with the event of the last change. */
  readonly #changed = new Map<string, number>();
  /** Files whose changes the user has rewound. */
  readonly #undone = new Set<string>();
  /** The last command that ended since the last edit. */
  #checked: { readonly command: string; readonly exitCode: number } | null = null;
  #edited = false;
  #steps = 0;

  /** A copy that continues independently. */
  fork(): AgentWork {
    const fork = new AgentWork();
    for (const [path, seq] of this.#changed) fork.#changed.set(path, seq);
    for (const path of this.#undone) fork.#undone.add(path);
    fork.#checked = this.#checked;
    fork.#edited = this.#edited;
    fork.#steps = this.#steps;
    return fork;
  }

  get changed(): readonly string[] {
    return [...this.#changed.keys()];
  }

  get undone(): readonly string[] {
    return [...this.#undone];
  }

  get checked(): { readonly command: string; readonly exitCode: number } | null {
    return this.#checked;
  }

  /** Whether an operation has edited a file; changes by commands are not edits. */
  get edited(): boolean {
    return this.#edited;
  }

  /** The number of replies. */
  get steps(): number {
    return this.#steps;
  }

  reply(): void {
    this.#steps++;
  }

  /** Records the result of a call of the model. */
  see(call: Event | undefined, result: EventArgs<'result'>): void {
    if (result.ok && operationNamed(result.operation)?.risk === 'write') {
      this.#edited = true;
      this.#checked = null;
    }
    const ran = runResultOf(result);
    const command = ran?.command ?? (call && callOf(call, 'terminal.run')?.args.command);
    if (command !== undefined && typeof ran?.exitCode === 'number')
      this.#checked = { command, exitCode: ran.exitCode };
  }

  commit({ args, seq, id = userCallPrefix }: EventOf<'commit'>): void {
    if (id.startsWith(userCallPrefix)) return;
    for (const { path } of args.files) {
      this.#changed.set(path, seq);
      this.#undone.delete(path);
    }
  }

  /** The user has reset the files to an earlier event. */
  rewind(to: number): void {
    for (const [path, seq] of this.#changed) {
      if (seq <= to) continue;
      this.#changed.delete(path);
      this.#undone.add(path);
    }
  }
}
