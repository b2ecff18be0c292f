import type { Occurrence } from '@belay/protocol';

/** An issue or pull request of a list, with the hash of its text and when it was last changed in any way. */
export interface ListedSubject extends Pick<Occurrence, 'number' | 'sha' | 'branch'> {
  readonly text: string | undefined;
  readonly updated: string | undefined;
}

/** A label itself changes the time of its issue, by the clock of another row. */
const slackMs = 2_000;

/**
 * What a list knows of the text at the time of an event. It shows the text of now: after any change since, which may only be
 * a comment, nobody can say whether it is still that of then.
 */
export function seenText(
  at: string,
  text: string | undefined,
  updated: string | undefined,
): Pick<Occurrence, 'textSha256' | 'textChanged'> {
  const isChanged = updated !== undefined && Date.parse(updated) > Date.parse(at) + slackMs;
  return {
    ...(text !== undefined && { textSha256: text }),
    ...(isChanged && { textChanged: true }),
  };
}
