import type { ForgeUser } from '@belay/protocol';
import { z } from 'zod';
import type { ForgeIssue, ForgePullText, ForgeRepository, ForgeText } from './forge.js';
import {
  hostId,
  issueNumber,
  labelNames,
  longText,
  pageAddress,
  shortText,
  wholeText,
} from './forge-fields.js';

/** What GitHub and Gitea send in the same form, but for their users. */
export function issueShapes(account: z.ZodType<ForgeUser>) {
  const text = z.object({
    id: hostId,
    user: account.nullish(),
    body: longText,
    updated_at: shortText,
    html_url: pageAddress,
  });
  const issue = text.extend({
    number: issueNumber,
    title: shortText,
    labels: labelNames,
    state: z.enum(['open', 'closed']),
    pull_request: z.unknown().optional(),
  });
  const textOf = (one: z.output<typeof text>): ForgeText => ({
    id: one.id,
    author: one.user ?? null,
    body: one.body,
    updated: one.updated_at,
    url: one.html_url,
  });
  const issueOf = (one: z.output<typeof issue>, isPull: boolean): ForgeIssue => ({
    ...textOf(one),
    number: one.number,
    title: one.title,
    labels: one.labels,
    state: one.state,
    isPull,
  });
  return {
    /** To be extended, with `textOf`. */
    text,
    textOf,
    /** Likewise, with `issueOf`. */
    pull: issue,
    issueOf,
    issue: issue.transform((one) => issueOf(one, Boolean(one.pull_request))),
    /** A comment with the number of the issue or pull request that it belongs to. */
    comment: text
      .extend({ issue_url: z.string().nullish(), pull_request_url: z.string().nullish() })
      .transform((one) => ({
        text: textOf(one),
        // At Gitea, the one that it does not belong to is empty.
        number: Number(/\/(\d+)$/.exec(one.issue_url || one.pull_request_url || '')?.[1]),
      })),
    pullText: z
      .object({ title: wholeText, body: wholeText, user: account.nullish(), html_url: pageAddress })
      .transform(({ title, body, user, html_url: url }): ForgePullText => ({
        title,
        body,
        author: user ?? null,
        url,
      })),
  };
}

export const forgeRepository = z
  .object({ id: hostId, full_name: shortText, default_branch: shortText })
  .transform(({ id, full_name: path, default_branch: defaultBranch }): ForgeRepository => ({
    id,
    path,
    defaultBranch,
  }));
