import type { ForgeUser } from '@belay/protocol';
import { z } from 'zod';
import type { ForgeCheck, ForgeLevel, ForgePull, ForgeReview } from './forge.js';
import {
  byWord,
  checkSummary,
  forgeCommit,
  hostId,
  longText,
  pageAddress,
  shortText,
} from './forge-fields.js';
import { issueShapes } from './issue-shapes.js';

/** Bots that may come without the mark of one. */
const knownBots: ReadonlySet<string> = new Set(['copilot', 'github-actions', 'dependabot']);

/** A user as GitHub shows one. Whatever is not marked as a user’s own account is a bot. */
export const githubAccount = z
  .object({ id: hostId, login: shortText, type: z.string().nullish() })
  .transform(({ id, login, type }): ForgeUser => ({
    id,
    name: login.slice(0, 200),
    isBot:
      (type ?? 'User') !== 'User' || login.endsWith('[bot]') || knownBots.has(login.toLowerCase()),
  }));

const { text, textOf, pull, issueOf, ...shapes } = issueShapes(githubAccount);

export const githubIssue = shapes.issue;
export const githubComment = shapes.comment;
export const githubPullText = shapes.pullText;

export const githubPull = pull
  .extend({
    draft: z.boolean().nullish(),
    merged: z.boolean().nullish(),
    merged_at: z.string().nullish(),
    head: z.object({ sha: forgeCommit, ref: shortText, repo: z.object({ id: hostId }).nullish() }),
    base: z.object({ sha: forgeCommit.nullish(), ref: shortText }),
  })
  .transform(({ draft, merged, merged_at: mergedAt, head, base, ...one }): ForgePull => ({
    ...issueOf(one, true),
    draft: draft ?? false,
    // Lists have only the time.
    merged: merged ?? Boolean(mergedAt),
    sha: head.sha,
    branch: head.ref,
    base: base.ref,
    baseSha: base.sha ?? null,
    headRepositoryId: head.repo?.id ?? null,
  }));

const verdicts = byWord<ForgeReview['verdict']>({
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes',
  COMMENTED: 'comment',
  DISMISSED: 'comment',
});

/** Null for a review that its author has not sent yet. */
export const githubReview = text
  .omit({ updated_at: true })
  .extend({ state: z.string(), commit_id: forgeCommit.nullish(), submitted_at: shortText })
  .transform(({ state, commit_id: sha, submitted_at: at, ...one }): ForgeReview | null => {
    const verdict = verdicts.get(state.toUpperCase());
    return verdict === undefined
      ? null
      : { ...textOf({ ...one, updated_at: at }), verdict, sha: sha ?? null };
  });

export const githubLineComment = text
  .extend({
    path: shortText,
    line: z.int().nullish(),
    side: z.string().nullish(),
    in_reply_to_id: hostId.nullish(),
  })
  .transform(({ path, line, side, in_reply_to_id: root, ...one }) => ({
    root: root ?? one.id,
    path,
    line: side === 'LEFT' ? null : (line ?? null),
    comment: textOf(one),
  }));

const levels = byWord<ForgeLevel>({
  none: 'none',
  read: 'read',
  triage: 'triage',
  write: 'write',
  maintain: 'maintain',
  admin: 'admin',
});

/** A role that an organization made up is as much as the permission that it builds on. */
export const githubPermission = z
  .object({
    role_name: z.string().nullish(),
    permission: z.string(),
    user: githubAccount.nullish(),
  })
  .transform(({ role_name: role, permission, user }) => ({
    level: levels.get(role ?? '') ?? levels.get(permission) ?? ('none' as const),
    user: user ?? null,
  }));

const conclusions = byWord<ForgeCheck['state']>({
  success: 'passed',
  neutral: 'skipped',
  skipped: 'skipped',
  stale: 'skipped',
  // It waits for a user: of a fork, for the permission to run at all.
  action_required: 'pending',
});

export const githubCheckRun = z
  .object({
    name: shortText,
    status: z.string(),
    conclusion: z.string().nullish(),
    html_url: pageAddress,
    output: z.object({ title: longText, summary: longText }).partial().nullish(),
  })
  .transform(({ name, status, conclusion, html_url: url, output }): ForgeCheck => ({
    name,
    state: status === 'completed' ? (conclusions.get(conclusion ?? '') ?? 'failed') : 'pending',
    url,
    summary: checkSummary(output?.title, output?.summary),
  }));

export const githubCheckRuns = z.object({ check_runs: z.array(githubCheckRun) });

export const githubWorkflowRuns = z.object({
  workflow_runs: z.array(z.object({ id: hostId, workflow_id: hostId, event: shortText })),
});

/** Gitea has the same states, and some of its own. */
const statuses = byWord<ForgeCheck['state']>({
  success: 'passed',
  warning: 'passed',
  failure: 'failed',
  error: 'failed',
  skipped: 'skipped',
});

/** A status that another service reported for a commit; `state` at GitHub, `status` at Gitea. */
export const commitStatus = z
  .object({
    context: shortText,
    state: z.string().nullish(),
    status: z.string().nullish(),
    target_url: pageAddress,
    description: longText,
  })
  .transform(({ context, state, status, target_url: url, description }): ForgeCheck => ({
    name: context,
    state: statuses.get(state ?? status ?? '') ?? 'pending',
    url,
    summary: checkSummary(description),
  }));

export const combinedStatus = z.object({
  statuses: z
    .array(commitStatus)
    .nullish()
    .transform((all) => all ?? []),
});

export const sentText = z.object({ id: hostId, html_url: pageAddress });
