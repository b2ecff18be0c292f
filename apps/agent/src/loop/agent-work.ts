import {
  callOf,
  operationNamed,
  runResultOf,
  userCallPrefix,
  type Event,
  type EventArgs,
  type EventOf,
} from '@belay/protocol';

/** The files of one commit, after those of earlier ones. */
interface Changes {
  readonly paths: readonly string[];
  readonly earlier: Changes | null;
}

/**
 * What the agent has done in the workspace, as part of a conversation’s fold. A step that the user undoes by itself
 * still counts as its work: later changes of the same files stay.
 */
export class AgentWork {
  /** The changes of its calls that are left. */
  #left: Changes | null = null;
  /** What was left after each commit and each rewind, in the order of the log. */
  readonly #history: { readonly seq: number; readonly left: Changes | null }[] = [];
  /** All files that its calls have ever changed. */
  readonly #paths = new Set<string>();
  /** The last command that ended since the last edit. */
  #checked: { readonly command: string; readonly exitCode: number } | null = null;
  #edited = false;
  #steps = 0;

  /** A copy that continues independently. */
  fork(): AgentWork {
    const fork = new AgentWork();
    fork.#left = this.#left;
    fork.#history.push(...this.#history);
    for (const path of this.#paths) fork.#paths.add(path);
    fork.#checked = this.#checked;
    fork.#edited = this.#edited;
    fork.#steps = this.#steps;
    return fork;
  }

  /** Files with changes that are left. */
  get changed(): readonly string[] {
    const commits: (readonly string[])[] = [];
    for (let at = this.#left; at; at = at.earlier) commits.push(at.paths);
    return [...new Set(commits.toReversed().flat())];
  }

  /** Files all of whose changes the user has rewound. */
  get undone(): readonly string[] {
    const changed = new Set(this.changed);
    return [...this.#paths].filter((path) => !changed.has(path));
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
    const paths = args.files.map(({ path }) => path);
    for (const path of paths) this.#paths.add(path);
    this.#leave(seq, { paths, earlier: this.#left });
  }

  /** The user has reset the files to an earlier event, which may be from before another rewind. */
  rewind({ seq, args }: EventOf<'rewind'>): void {
    this.#leave(seq, this.#history.findLast((each) => each.seq <= args.seq)?.left ?? null);
  }

  #leave(seq: number, left: Changes | null): void {
    this.#left = left;
    this.#history.push({ seq, left });
  }
}
