import { AppError, bytesText, pluralText } from '@belay/protocol';

const reasons = {
  unreadable: 'unreadable',
  special: 'a socket, pipe or device',
  name: 'the name is not UTF-8',
  deep: 'more than 200 folders deep',
  changed: 'shortened while it was read; ends in zeros',
} as const;
type Reason = keyof typeof reasons;

/** What a packed workspace leaves out, with a sentence for each reason. */
export class LeftOut {
  readonly #paths = new Map<Reason, string[]>();
  readonly #histories: string[] = [];

  file(path: string, why: Reason): undefined {
    const paths = this.#paths.get(why) ?? [];
    paths.push(path);
    this.#paths.set(why, paths);
  }

  /** Paths are bytes as latin1 text. */
  readonly folder = (path: string, why: Reason): void =>
    this.file(`${Buffer.from(path, 'latin1').toString()}/`, why);

  history(path: string, why: string): void {
    const whose = path === '' ? 'the workspace' : path;
    this.#histories.push(`Copied the files of ${whose} without its git history: ${why}.`);
  }

  sentences(): string[] {
    const files = [...this.#paths].map(([why, paths]) => {
      const names = paths.slice(0, 3).join(', ') + (paths.length > 3 ? ', …' : '');
      const verb = why === 'changed' ? 'Copied' : 'Left out';
      return `${verb} ${paths.length} ${paths.length === 1 ? 'path' : 'paths'} (${reasons[why]}): ${names}`;
    });
    return [...this.#histories, ...files];
  }
}

/** A warning about files whose names are those of secrets; undefined if there are none. */
export function secretsWarning(paths: readonly string[]): string | undefined {
  if (paths.length === 0) return undefined;
  const names = paths.slice(0, 5).join(', ') + (paths.length > 5 ? ', …' : '');
  return `${pluralText(paths.length, 'file looks', 'files look')} like secrets, and the agent can read them: ${names}. Name them in .gitignore to leave them out.`;
}

export const tooLarge = (maxBytes: number, largest: { path: string; size: number }): AppError =>
  new AppError(
    'too_large',
    `The workspace is larger than ${bytesText(maxBytes)} (${largest.path} alone has ${bytesText(largest.size)}). Name large files in .gitignore, or raise BELAY_MAX_WORKSPACE_MB for the command and the server.`,
  );
