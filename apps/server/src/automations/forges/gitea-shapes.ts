import type { ForgeUser } from '@belay/protocol';
import { z } from 'zod';
import type { ForgeLevel, ForgePull, ForgeReview } from './forge.js';
import { byWord, forgeCommit, hostId, shortText } from './forge-fields.js';
import { issueShapes } from './issue-shapes.js';

/** The users of the host itself, beside those whose ids are not positive. */
const ownUsers: ReadonlySet<string> = new Set(['gitea-actions', 'forgejo-actions', 'ghost']);

/** A user as Gitea and Forgejo show one. */
export const giteaAccount = z
  .object({ id: hostId, login: shortText })
  .transform(({ id, login }): ForgeUser => ({
    id,
    name: login.slice(0, 200),
    isBot: Number(id) <= 0 || ownUsers.has(login.toLowerCase()) || login.endsWith('[bot]'),
  }));

const { text, textOf, pull, issueOf, ...shapes } = issueShapes(giteaAccount);

export const giteaIssue = shapes.issue;
export const giteaComment = shapes.comment;
export const giteaPullText = shapes.pullText;

export const giteaPull = pull
  .extend({
    draft: z.boolean().nullish(),
    merged: z.boolean().nullish(),
    head: z.object({ sha: forgeCommit, ref: shortText, repo: z.object({ id: hostId }).nullish() }),
    base: z.object({ sha: forgeCommit.nullish().catch(null), ref: shortText }),
  })
  .transform(({ draft, merged, head, base, ...one }): ForgePull => ({
    ...issueOf(one, true),
    // Older versions know drafts by their titles.
    draft: draft ?? /^\s*(?:WIP:|\[WIP\])/i.test(one.title),
    merged: merged ?? false,
    sha: head.sha,
    branch: head.ref,
    base: base.ref,
    baseSha: base.sha ?? null,
    headRepositoryId: head.repo?.id ?? null,
  }));

const verdicts = byWord<ForgeReview['verdict']>({
  APPROVED: 'approved',
  REQUEST_CHANGES: 'changes',
  COMMENT: 'comment',
});

/** Null for what was not sent, and for requests of a review. */
export const giteaReview = text
  .omit({ updated_at: true })
  .extend({
    state: z.string(),
    dismissed: z.boolean().nullish(),
    commit_id: forgeCommit.nullish().catch(null),
    submitted_at: shortText,
    comments_count: z.int().nullish(),
  })
  .transform((one) => {
    const verdict = verdicts.get(one.state.toUpperCase());
    if (verdict === undefined) return null;
    const review: ForgeReview = {
      ...textOf({ ...one, updated_at: one.submitted_at }),
      verdict: one.dismissed === true ? 'comment' : verdict,
      sha: one.commit_id ?? null,
    };
    return { review, comments: one.comments_count ?? 1 };
  });

/** A comment on a line: of the new file, or of the old one if the first is 0. */
export const giteaLineComment = text
  .extend({
    path: shortText,
    position: z.int().nullish(),
    original_position: z.int().nullish(),
    resolver: z.unknown().optional(),
  })
  .transform(({ path, position, original_position: old, resolver, ...one }) => ({
    path,
    newLine: position || null,
    oldLine: old || null,
    isResolved: Boolean(resolver),
    comment: textOf(one),
  }));

const levels = byWord<ForgeLevel>({
  none: 'none',
  read: 'read',
  write: 'write',
  admin: 'admin',
  owner: 'admin',
});

export const giteaPermission = z
  .object({ permission: z.string(), user: giteaAccount.nullish() })
  .transform(({ permission, user }) => ({
    level: levels.get(permission) ?? ('none' as const),
    user: user ?? null,
  }));

export const giteaLabel = z.object({ id: z.int(), name: z.string() });
export const foundUsers = z.object({ data: z.array(giteaAccount) });
