import type { EventArgs, FileChange, FileConflict } from '@belay/protocol';

interface Note {
  readonly text: string;
  /** The change as a diff; empty if it is unknown. */
  readonly diff: string;
  readonly changes: readonly FileChange[];
  /** Those of `changes` that no refusal has shown; null if the diff contains more than `changes`. */
  readonly untold: readonly FileChange[] | null;
}

/** Notes for the model about users’ changes, until a prompt contains them; part of a conversation’s fold. */
export class Notes {
  #notes: readonly Note[] = [];
  /** The versions of files that refusals have shown since the last prompt, by path. */
  readonly #shown = new Map<string, string | null>();

  /** A copy that continues independently. */
  fork(): Notes {
    const fork = new Notes();
    fork.#notes = this.#notes;
    for (const [path, version] of this.#shown) fork.#shown.set(path, version);
    return fork;
  }

  get texts(): string[] {
    return this.#notes.map(noteText);
  }

  add(
    text: string,
    result: Pick<EventArgs<'result'>, 'note' | 'changes' | 'moreChanges'> = {},
  ): void {
    const { note: diff = '', changes = [], moreChanges = false } = result;
    const untold = changes.filter(({ path, version }) => this.#shown.get(path) !== version);
    this.#notes = [...this.#notes, { text, diff, changes, untold: moreChanges ? null : untold }];
  }

  /** Records that a refusal has shown all changes in a file up to this version. */
  showed({ path, version }: FileConflict): void {
    this.#shown.set(path, version);
    this.#notes = this.#notes.map(({ untold, ...note }) => ({
      ...note,
      untold: untold && untold.filter((change) => change.path !== path),
    }));
  }

  /** Returns the notes, which the model gets now. */
  take(): { text: string; changes: readonly FileChange[] }[] {
    const taken = this.#notes.map((note) => ({ text: noteText(note), changes: note.changes }));
    this.#notes = [];
    this.#shown.clear();
    return taken;
  }
}

/** Leaves out changes that a refusal in the same prompt has shown. */
function noteText({ text, diff, changes, untold }: Note): string {
  if (diff === '') return text;
  const isShown = changes.length > 0 && untold?.length === 0;
  return `${text}\n${isShown ? 'What changed is in the refusal above.' : diff}`;
}
