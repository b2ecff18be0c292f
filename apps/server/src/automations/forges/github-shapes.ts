import type { ForgeUser } from '@belay/protocol';
import { z } from 'zod';
import type {
  ForgeCheck,
  ForgeIssue,
  ForgeLevel,
  ForgePull,
  ForgePullText,
  ForgeRepository,
  ForgeReview,
  ForgeText,
} from './forge.js';
import {
  byWord,
  checkSummary,
  forgeCommit,
  hostId,
  issueNumber,
  labelNames,
  longText,
  pageAddress,
  shortText,
  wholeText,
} from './forge-fields.js';

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

const text = z.object({
  id: hostId,
  user: githubAccount.nullish(),
  body: longText,
  updated_at: shortText,
  html_url: pageAddress,
});

const textOf = (one: z.output<typeof text>): ForgeText => ({
  id: one.id,
  author: one.user ?? null,
  body: one.body,
  updated: one.updated_at,
  url: one.html_url,
});

export const githubRepository = z
  .object({ id: hostId, full_name: shortText, default_branch: shortText })
  .transform(({ id, full_name, default_branch }): ForgeRepository => ({
    id,
    path: full_name,
    defaultBranch: default_branch,
  }));

const issue = text.extend({
  number: issueNumber,
  title: shortText,
  labels: labelNames,
  state: z.enum(['open', 'closed']),
  pull_request: z.unknown().optional(),
});

const issueOf = (one: z.output<typeof issue>, isPull: boolean): ForgeIssue => ({
  ...textOf(one),
  number: one.number,
  title: one.title,
  labels: one.labels,
  state: one.state,
  isPull,
});

export const githubIssue = issue.transform((one) => issueOf(one, Boolean(one.pull_request)));

/** A comment with the number of the issue or pull request that it belongs to. */
export const githubComment = text
  .extend({ issue_url: z.string().optional(), pull_request_url: z.string().optional() })
  .transform((one) => ({
    text: textOf(one),
    number: Number(/\/(\d+)$/.exec(one.issue_url ?? one.pull_request_url ?? '')?.[1]),
  }));

export const githubPull = issue
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

export const githubPullText = z
  .object({
    title: wholeText,
    body: wholeText,
    user: githubAccount.nullish(),
    html_url: pageAddress,
  })
  .transform(({ title, body, user, html_url: url }): ForgePullText => ({
    title,
    body,
    author: user ?? null,
    url,
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
