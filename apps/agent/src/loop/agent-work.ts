import {
  callOf,
  isUndoneCommit,
  operationNamed,
  resultOf,
  rewinds,
  runResultOf,
  userCallPrefix,
  type Event,
  type EventArgs,
  type EventOf,
} from '@belay/protocol';

type Commit = Event & EventOf<'commit'>;

/** What the agent has done in the workspace, as part of a conversation’s fold. */
export class AgentWork {
  /** Of all calls, by their ids. */
  readonly #commits = new Map<string, Commit>();
  /** The numbers of their results. */
  readonly #results = new Map<string, Pick<Event, 'seq'>>();
  readonly #rewinds: Event[] = [];
  /** The ids of the user’s calls that undid single commits, by these. */
  readonly #undos = new Map<string, string>();
  /** The last command that ended since the last edit. */
  #checked: { readonly command: string; readonly exitCode: number } | null = null;
  #edited = false;
  #steps = 0;

  /** A copy that continues independently. */
  fork(): AgentWork {
    const fork = new AgentWork();
    for (const [id, commit] of this.#commits) fork.#commits.set(id, commit);
    for (const [id, result] of this.#results) fork.#results.set(id, result);
    fork.#rewinds.push(...this.#rewinds);
    for (const [commit, id] of this.#undos) fork.#undos.set(commit, id);
    fork.#checked = this.#checked;
    fork.#edited = this.#edited;
    fork.#steps = this.#steps;
    return fork;
  }

  /** Files with changes by its calls that the user has not undone. */
  get changed(): readonly string[] {
    return this.#paths((commit) => !this.#isUndone(commit));
  }

  /** Files whose changes the user has all undone. */
  get undone(): readonly string[] {
    const changed = new Set(this.changed);
    return this.#paths((commit) => this.#isUndone(commit)).filter((path) => !changed.has(path));
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

  /** Records the result of any call. */
  end(event: EventOf<'result'> & Event): void {
    const { id = '', seq } = event;
    this.#results.set(id, { seq });
    const undone = resultOf(event, 'workspace.undo')?.undone;
    if (undone) this.#undos.set(undone.commit, id);
  }

  commit(event: Commit): void {
    if (event.id !== undefined) this.#commits.set(event.id, event);
  }

  /** Records an event of others. */
  include(event: Event): void {
    if (rewinds(event, 'files')) this.#rewinds.push(event);
  }

  #isUndone(commit: Commit): boolean {
    const [commits, results, undos] = [this.#commits, this.#results, this.#undos];
    return isUndoneCommit({ commits, results, rewinds: this.#rewinds, undos }, commit);
  }

  /** The files in the commits of its own calls. */
  #paths(counts: (commit: Commit) => boolean): string[] {
    const own = [...this.#commits.values()].filter(({ id }) => !id?.startsWith(userCallPrefix));
    return [
      ...new Set(own.filter(counts).flatMap(({ args }) => args.files.map(({ path }) => path))),
    ];
  }
}
