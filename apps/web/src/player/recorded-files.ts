import { isEvent } from '@belay/protocol';
import type { SessionRecording } from '@/features/session-controls/session-recording';
import { unifiedDiff } from './unified-diff';

/** The files of a recording as of each of its commits. */
export class RecordedFiles {
  readonly #recording: Pick<SessionRecording, 'files' | 'texts'>;
  /** The position of each commit in the log. */
  readonly #positions: ReadonlyMap<string, number>;

  constructor({ events, files, texts }: Pick<SessionRecording, 'events' | 'files' | 'texts'>) {
    this.#recording = { files, texts };
    const commits = events.filter((event) => isEvent(event, 'commit'));
    this.#positions = new Map(commits.map(({ seq, args }) => [args.commit, seq]));
  }

  /** The text of a file as of a commit, or the latest for null; null if there was none, undefined if it is not recorded. */
  textAt(path: string, commit: string | null): string | null | undefined {
    const versions = Object.hasOwn(this.#recording.files, path) ? this.#recording.files[path] : [];
    const until = commit === null ? Infinity : this.#positionOf(commit);
    const version = versions?.findLast(({ seq }) => seq <= until);
    if (!version) return undefined;
    return version.text === null ? null : this.#recording.texts[version.text];
  }

  /** The changes between two commits, by default of the whole session. */
  diff({ from, to }: { from?: string; to?: string }): string {
    return Object.keys(this.#recording.files)
      .toSorted()
      .map((path) => {
        const before = this.textAt(path, from ?? '') ?? null;
        const after = this.textAt(path, to ?? null) ?? null;
        return unifiedDiff({ path, before, after });
      })
      .join('');
  }

  /** A commit that is not in the log is the one that the session started from. */
  #positionOf(commit: string): number {
    return this.#positions.get(commit) ?? 0;
  }
}
