import { z } from 'zod';
import { gitIdentity } from './git-identity.js';
import { reproduction, rerunReport } from './reruns.js';

/** A branch name by git’s own rules that does not begin like an option. */
export const branchName = z
  .string()
  .min(1)
  .max(200)
  .regex(
    // oxlint-disable-next-line no-control-regex
    /^(?!-|\/|@$)(?!.*(?:\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|[/.]$))(?!\.)[^\u0000-\u0020\u007f~^:?*[\\]+$/,
    'not a valid branch name',
  );

export const repositoryUrl = z
  .string()
  .trim()
  .min(1)
  .max(1_000)
  .describe('The HTTPS URL of a repository, without a user or token.');

/** The whole id of a commit, which no name of a branch or tag stands for. */
export const fullCommitId = z
  .string()
  .regex(/^[0-9a-f]{40}$/, 'the whole id of a commit: 40 hexadecimal digits in lowercase');

/** The repository that a session’s workspace is cloned from. */
export const newRepository = z.object({
  url: repositoryUrl,
  branch: branchName
    .optional()
    .describe('A branch or tag; the default branch if neither this nor `commit` is given.'),
  commit: fullCommitId
    .optional()
    .describe(
      'Clone this commit, whatever any branch or tag is called. `branch` is then the branch that it is on, to which changes are published.',
    ),
  depth: z
    .int()
    .positive()
    .max(1_000_000)
    .optional()
    .describe('The number of commits of history; all if omitted.'),
});

/** The repository when the session was created; the workspace is at this commit. */
export const clonedRepository = z.object({
  url: repositoryUrl,
  branch: branchName
    .nullable()
    .describe('Null if a tag, or a commit without its branch, was requested.'),
  commit: fullCommitId,
  scope: z
    .enum(['operate', 'admin'])
    .default('operate')
    .describe('The scope of the session’s creator, which decides whose tokens the clone may use.'),
  depth: newRepository.shape.depth,
});
export type ClonedRepository = z.infer<typeof clonedRepository>;

export const gitHostName = z
  .string()
  .max(260)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::[1-9]\d{0,4})?$/,
    'a host in lowercase letters, such as git.example.com or git.example.com:8443',
  );

/** The REST API that a host has, for pull requests. */
export const gitHostKind = z.enum(['github', 'gitlab', 'gitea', 'other']);
export type GitHostKind = z.infer<typeof gitHostKind>;

const hostFields = {
  kind: gitHostKind.describe('`gitea` includes Forgejo; `other` supports only pushes.'),
  api: z
    .url({ protocol: /^https?$/ })
    .max(1_000)
    .refine((url) => !/^https?:\/\/[^/]*@/.test(url), 'leave out the user and token')
    .nullable()
    .describe('The URL of the REST API, if it is not the usual one for this kind of host.'),
  user: z
    .string()
    .regex(/^[\w.@+-]{1,100}$/, 'letters, digits and . @ + - _')
    .nullable()
    .describe('The user name to send with the token, for hosts that require one.'),
  scope: z
    .enum(['operate', 'admin'])
    .describe('Callers with at least this scope may use the token.'),
  private: z
    .boolean()
    .describe('Whether the host may be in a private network or on the server’s machine.'),
  insecure: z.boolean().describe('Whether to use HTTP without TLS.'),
};

/** A git host that an admin set up. Its token is write-only. */
export const gitHost = z.object({
  host: gitHostName,
  ...hostFields,
  token: z.boolean().describe('Whether a token is set.'),
});
export type GitHost = z.infer<typeof gitHost>;

/** Omitted fields keep their values, or get the defaults of the host. */
export const gitHostChange = z
  .object({
    ...hostFields,
    token: z
      .string()
      .regex(/^[!-~]{1,2000}$/, 'a token has no spaces')
      .nullable()
      .describe('Null removes it.'),
  })
  .partial();
export type GitHostChange = z.infer<typeof gitHostChange>;

/** Changes that are refused unless the request allows them. */
export const publishAllowance = z.enum(['default-branch', 'ci-files']);
export type PublishAllowance = z.infer<typeof publishAllowance>;

const target = {
  url: repositoryUrl.optional().describe('The session’s own repository if omitted.'),
  base: branchName
    .optional()
    .describe(
      'The branch to start from and to merge into; if omitted, the session’s own or the default branch.',
    ),
  branch: branchName.describe('The branch to push to; it is created if it does not exist.'),
  allow: z
    .array(publishAllowance)
    .max(2)
    .default([])
    .describe(
      '`default-branch`: push to the default branch; `ci-files`: change files that run in CI.',
    ),
};

/** The target for a session’s changes. */
export const publishTarget = z.object(target);

export const publishedFile = z.object({
  path: z.string(),
  from: z.string().optional().describe('The path before the file was renamed.'),
  status: z.enum(['added', 'changed', 'deleted', 'renamed']),
  added: z.int().nonnegative().nullable().describe('Lines; null for a binary file.'),
  removed: z.int().nonnegative().nullable(),
});

/** The effect of a push, before anything is sent. */
export const preparedPublish = z.object({
  id: z.string().describe('Identifies exactly this content and target; `publish` needs it.'),
  url: repositoryUrl,
  host: z.string(),
  kind: gitHostKind,
  base: branchName,
  branch: branchName,
  defaultBranch: branchName.nullable(),
  isNewBranch: z.boolean(),
  parent: z.string().describe('The parent of the new commit.'),
  files: z.array(publishedFile),
  refusals: z
    .array(z.object({ needs: publishAllowance, message: z.string() }))
    .describe('The reasons why `publish` refuses until the request allows them.'),
  pullRequests: z.boolean().describe('Whether Belay can open pull requests on this host.'),
  author: gitIdentity
    .nullable()
    .describe('The author of the commit if the request names none; null for Belay.'),
  sessionPage: z
    .string()
    .nullable()
    .describe('The address of the session, which a pull request names; null without a public one.'),
  into: repositoryUrl.describe(
    'The repository that receives a pull request: the one that the session was cloned from, even if the push goes to a fork.',
  ),
});
export type PreparedPublish = z.infer<typeof preparedPublish>;

export const commitMessage = z
  .string()
  .trim()
  .min(1)
  .max(20_000)
  // oxlint-disable-next-line no-control-regex
  .regex(/^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/, 'no control characters');

export const publishRequest = z.object({
  ...target,
  id: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('The id of what was prepared; other content is refused.'),
  message: commitMessage,
  author: gitIdentity
    .optional()
    .describe('The author of the commit; if omitted, the one that was prepared.'),
  pullRequest: z
    .object({
      title: z.string().trim().min(1).max(250),
      body: z.string().max(50_000).default(''),
      draft: z.boolean().default(false),
    })
    .nullable()
    .default(null)
    .describe('A pull or merge request to open into `base`; null only pushes.'),
  reproduction: reproduction
    .nullable()
    .default(null)
    .describe(
      'A test that is run before the push, as is the session’s check: before the change and with it, in sandboxes without a network. It takes up to four minutes, and the push follows whatever the verdict is.',
    ),
});

/** A page of a git host, which is opened in a browser. */
export const webPage = z.url({ protocol: /^https?$/, error: 'a web page' }).max(2_000);

/** A pull request that was opened for a session’s changes. */
export const openedRequest = z.object({
  url: webPage,
  number: z.int().nonnegative(),
  into: repositoryUrl.describe('The repository that receives it.'),
});

/** The last push of a session’s changes, with the pull request of its branch. */
export const sessionPublication = z.object({
  url: repositoryUrl,
  branch: branchName,
  base: branchName,
  commit: z.string().max(64),
  pullRequest: openedRequest.nullable(),
});

/** A commit that is about to be pushed: stored first, so that a push whose outcome was lost is known by its commit. */
export const plannedPush = z.object({
  id: z.string().max(64).describe('The id of what was prepared.'),
  url: repositoryUrl,
  into: repositoryUrl,
  branch: branchName,
  base: branchName,
  commit: fullCommitId,
  date: z.iso
    .datetime({ offset: true })
    .describe('The date of the commit, so that the same request makes the same commit again.'),
});
export type PlannedPush = z.infer<typeof plannedPush>;

/** A push in the log of its session, with what was found by running tests again. */
export const recordedPublication = sessionPublication.extend({
  reruns: rerunReport.nullable().default(null),
});

/** A pull request as its host has it now. */
export const pullRequestStatus = z.object({
  url: webPage,
  number: z.int().nonnegative(),
  title: z.string().max(1_000),
  state: z.enum(['open', 'draft', 'merged', 'closed']),
  checks: z
    .enum(['none', 'running', 'passed', 'failed', 'unknown'])
    .describe(
      'All checks of its latest commit together; `unknown` if some cannot be read, and none of the others failed or is running.',
    ),
});
export type PullRequestStatus = z.infer<typeof pullRequestStatus>;

export const publishedChange = z.object({
  url: repositoryUrl,
  branch: branchName,
  commit: z.string(),
  branchPage: z.string().nullable().describe('The web page of the branch.'),
  pullRequest: z.object({ url: z.string(), number: z.int(), isNew: z.boolean() }).nullable(),
  problem: z
    .string()
    .nullable()
    .describe('Why no pull request was opened although the push succeeded.'),
  reruns: rerunReport
    .nullable()
    .describe('What was found by running tests again; null if that was not asked for.'),
});
export type PublishedChange = z.infer<typeof publishedChange>;

/** The line of a pull request that leads its reviewers to the conversation. */
export const sessionLink = (page: string): string => `Made in this session: ${page}`;

/** A commit message for a session’s changes. */
export const draftedMessage = z.object({
  message: z.string(),
  model: z.string().nullable().describe('The model that wrote it; null for a generic message.'),
});
