import type { ForgeUser, Occurrence } from '@belay/protocol';
import { z } from 'zod';
import { labelled, hashOfIssue } from './github-delivery.js';
import {
  found,
  ignored,
  payloadId,
  payloadName,
  payloadNumber,
  payloadSha,
  payloadText,
  payloadTime,
  type ReadPayload,
} from './payload-parts.js';

/** Tokens of projects and groups are users, whose names say so. */
const isTokenUser = (name: string): boolean => /^(project|group)_\d+_bot(_|$)/.test(name);

export const sentGitlabUser = z
  .object({ id: payloadId, username: payloadName, bot: z.boolean().nullish() })
  .transform(({ id, username, bot }): ForgeUser => ({
    id,
    name: username,
    isBot: bot === true || isTokenUser(username),
  }));

export const gitlabLabel = z.object({ title: payloadName });
const change = <T extends z.ZodType>(of: T) =>
  z.object({ previous: z.array(of).max(500).nullish(), current: z.array(of).max(500).nullish() });
export const gitlabChanges = z.object({
  labels: change(gitlabLabel).optional().catch(undefined),
  assignees: change(z.object({ username: payloadName }))
    .optional()
    .catch(undefined),
  draft: z
    .object({ previous: z.boolean().nullish(), current: z.boolean().nullish() })
    .optional()
    .catch(undefined),
});
export const sentGitlabSubject = z.object({
  iid: payloadNumber,
  title: payloadText,
  description: payloadText.nullish(),
  action: z.string().max(40).optional(),
  confidential: z.boolean().nullish(),
  updated_at: payloadTime,
});
export const gitlabCommit = z.object({ id: payloadSha });

/** What is in the current list and was not in the previous one. */
export function addedNames<T>(
  change: { previous?: T[] | null | undefined; current?: T[] | null | undefined } | undefined,
  nameOf: (item: T) => string,
): string[] {
  const before = new Set((change?.previous ?? []).map(nameOf));
  return (change?.current ?? []).map(nameOf).filter((name) => !before.has(name));
}

export const labelsAdded = (
  of: z.output<typeof gitlabChanges> | null | undefined,
  kind: 'issue' | 'pull',
  same: Parameters<typeof labelled>[2],
): Occurrence[] =>
  addedNames(of?.labels, ({ title }) => title).map((name) => labelled(kind, name, same));

export const somethingOf = (occurrences: Occurrence[]): ReadPayload =>
  occurrences.length > 0
    ? found(...occurrences)
    : ignored('It added neither labels, assignees nor commits.');

export const textOfSubject = ({ title, description }: z.output<typeof sentGitlabSubject>): string =>
  hashOfIssue({ title, body: description });
