import type { ForgeUser } from '@belay/protocol';
import { z } from 'zod';
import type {
  ForgeCheck,
  ForgeIssue,
  ForgeLevel,
  ForgePull,
  ForgePullText,
  ForgeRepository,
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

/** The names that GitLab gives to the users of access tokens, and to service accounts. */
const botName = /^(?:project|group)_\d+_bot(?:_|$)|^service_account_/;

/** A user as GitLab shows one; only some of its answers say `bot`. */
export const gitlabAccount = z
  .object({ id: hostId, username: shortText, bot: z.boolean().nullish() })
  .transform(({ id, username, bot }): ForgeUser => ({
    id,
    name: username.slice(0, 200),
    isBot: bot === true || botName.test(username),
  }));

export const gitlabProject = z
  .object({
    id: hostId,
    path_with_namespace: shortText,
    default_branch: z.string().max(1_000).nullish(),
  })
  .transform(({ id, path_with_namespace: path, default_branch: branch }): ForgeRepository => ({
    id,
    path,
    defaultBranch: branch ?? '',
  }));

/** The access levels of GitLab: guest 10, planner 15, reporter 20, developer 30, maintainer 40, owner 50. */
function levelOf(access: number): ForgeLevel {
  if (access >= 50) return 'admin';
  if (access >= 40) return 'maintain';
  if (access >= 30) return 'write';
  if (access >= 20) return 'triage';
  return access >= 10 ? 'read' : 'none';
}

/** A member; blocked users and those who wait for approval have no permission. */
export const gitlabMember = z
  .object({
    id: hostId,
    access_level: z.int(),
    state: z.string().nullish(),
    membership_state: z.string().nullish(),
  })
  .transform(({ id, access_level: access, state, membership_state: membership }) => ({
    id,
    level:
      state === 'active' && (membership ?? 'active') === 'active'
        ? levelOf(access)
        : ('none' as const),
  }));

const issue = z.object({
  id: hostId,
  iid: issueNumber,
  title: shortText,
  description: longText,
  author: gitlabAccount.nullish(),
  labels: labelNames,
  state: z.string(),
  updated_at: shortText,
  web_url: pageAddress,
});

const issueOf = (one: z.output<typeof issue>, isPull: boolean): ForgeIssue => ({
  id: one.id,
  author: one.author ?? null,
  body: one.description,
  updated: one.updated_at,
  url: one.web_url,
  number: one.iid,
  title: one.title,
  labels: one.labels,
  state: one.state === 'closed' || one.state === 'merged' ? 'closed' : 'open',
  isPull,
});

export const gitlabIssue = issue
  .extend({ confidential: z.boolean().nullish() })
  .transform(({ confidential, ...one }) => ({
    isConfidential: confidential === true,
    issue: issueOf(one, false),
  }));

const diffRefs = z.object({ base_sha: forgeCommit, start_sha: forgeCommit, head_sha: forgeCommit });
export type GitlabDiffRefs = z.output<typeof diffRefs>;

export const gitlabMerge = issue
  .extend({
    draft: z.boolean().nullish(),
    work_in_progress: z.boolean().nullish(),
    sha: forgeCommit,
    source_branch: shortText,
    target_branch: shortText,
    source_project_id: hostId.nullish(),
    diff_refs: diffRefs.nullish().catch(null),
  })
  .transform((one) => ({
    /** Null until GitLab has compared the branches. */
    diffRefs: one.diff_refs ?? null,
    pull: {
      ...issueOf(one, true),
      draft: one.draft ?? one.work_in_progress ?? false,
      merged: one.state === 'merged',
      sha: one.sha,
      branch: one.source_branch,
      base: one.target_branch,
      baseSha: one.diff_refs?.start_sha ?? null,
      headRepositoryId: one.source_project_id ?? null,
    } satisfies ForgePull,
  }));

export const gitlabMergeText = z
  .object({
    title: wholeText,
    description: wholeText,
    author: gitlabAccount.nullish(),
    web_url: pageAddress,
  })
  .transform(({ title, description: body, author, web_url: url }): ForgePullText => ({
    title,
    body,
    author: author ?? null,
    url,
  }));

const note = z.object({
  id: hostId,
  type: z.string().nullish(),
  author: gitlabAccount.nullish(),
  body: longText,
  updated_at: shortText,
  system: z.boolean().nullish(),
  internal: z.boolean().nullish(),
  confidential: z.boolean().nullish(),
  resolvable: z.boolean().nullish(),
  resolved: z.boolean().nullish(),
  position: z
    .object({
      new_path: shortText,
      old_path: shortText,
      new_line: z.int().nullish(),
      old_line: z.int().nullish(),
      head_sha: z.string().nullish(),
    })
    .nullish(),
});
export type ReadNote = z.output<typeof note>;

export const gitlabNote = note;
export const gitlabDiscussion = z.object({ id: hostId, notes: z.array(note) });

/** Whether a note is a comment that everyone who sees the repository may read. */
export const isPublicNote = ({ system, internal, confidential }: ReadNote): boolean =>
  system !== true && internal !== true && confidential !== true;

export const isLineNote = ({ type, position }: ReadNote): boolean =>
  type === 'DiffNote' && position !== null && position !== undefined;

/** `page` is the address of the page that the note is on. */
export const noteText = (one: ReadNote, page: string): ForgeText => ({
  id: one.id,
  author: one.author ?? null,
  body: one.body,
  updated: one.updated_at,
  url: `${page}#note_${one.id}`,
});

export const gitlabApprovals = z.object({
  approved_by: z.array(z.object({ user: gitlabAccount, approved_at: shortText })),
});

export const gitlabReviewer = z.object({
  user: gitlabAccount,
  state: z.string().nullish(),
  created_at: shortText,
});

const states = byWord<ForgeCheck['state']>({
  success: 'passed',
  failed: 'failed',
  canceled: 'failed',
  skipped: 'skipped',
});

/** Of a pipeline; one that waits for a user has not passed. */
export const gitlabPipeline = z
  .object({
    id: hostId,
    ref: shortText,
    source: shortText,
    status: z.string(),
    web_url: pageAddress,
  })
  .transform(({ status, ...one }) => ({
    ...one,
    state: states.get(status) ?? ('pending' as const),
  }));

/** A job that may fail, and one that only a user starts, decide nothing. */
function jobState(status: string, mayFail: boolean | null | undefined): ForgeCheck['state'] {
  const state = status === 'manual' ? 'skipped' : (states.get(status) ?? 'pending');
  return state === 'failed' && mayFail === true ? 'skipped' : state;
}

const job = z.object({
  name: shortText,
  status: z.string(),
  allow_failure: z.boolean().nullish(),
});

export const gitlabJob = job
  .extend({ failure_reason: longText, web_url: pageAddress })
  .transform(
    ({ name, status, allow_failure: mayFail, failure_reason: why, web_url: url }): ForgeCheck => ({
      name,
      state: jobState(status, mayFail),
      url,
      summary: checkSummary(why),
    }),
  );

/** What a job or another service reported for a commit. */
export const gitlabStatus = job
  .extend({ description: longText, target_url: pageAddress })
  .transform(
    ({ name, status, allow_failure: mayFail, description, target_url: url }): ForgeCheck => ({
      name,
      state: jobState(status, mayFail),
      url,
      summary: checkSummary(description),
    }),
  );

export const gitlabDiff = z.object({
  old_path: shortText,
  new_path: shortText,
  diff: z
    .string()
    .nullish()
    .transform((text) => text ?? ''),
});
