import { z } from 'zod';

/** A branch’s name by git’s own rules, and never one that begins as an option does. */
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
  .describe('The https address of a repository, without user and token.');

/** What a session’s workspace is cloned from. */
export const newRepository = z.object({
  url: repositoryUrl,
  branch: branchName
    .optional()
    .describe('A branch, a tag or a commit; the default branch when omitted.'),
  depth: z
    .int()
    .positive()
    .max(1_000_000)
    .optional()
    .describe('The number of commits of history; all when omitted.'),
});

/** As it was found when the session was made; the workspace is at this commit. */
export const clonedRepository = z.object({
  url: repositoryUrl,
  branch: branchName.nullable().describe('Null when a tag or a commit was asked for.'),
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  depth: newRepository.shape.depth,
});
export type ClonedRepository = z.infer<typeof clonedRepository>;

export const gitHostName = z
  .string()
  .max(260)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::[1-9]\d{0,4})?$/,
    'a host in lowercase letters, as git.example.com or git.example.com:8443',
  );

/** Whose REST API a host speaks, for pull requests. */
export const gitHostKind = z.enum(['github', 'gitlab', 'gitea', 'other']);
export type GitHostKind = z.infer<typeof gitHostKind>;

const hostFields = {
  kind: gitHostKind.describe('`gitea` is Forgejo, too; `other` takes pushes alone.'),
  api: z
    .url({ protocol: /^https?$/ })
    .max(1_000)
    .refine((url) => !/^https?:\/\/[^/]*@/.test(url), 'leave out the user and token')
    .nullable()
    .describe('The REST API’s address where it is not the usual one of its kind.'),
  user: z
    .string()
    .regex(/^[\w.@+-]{1,100}$/, 'letters, digits and . @ + - _')
    .nullable()
    .describe('The user beside the token, for hosts that ask for one.'),
  scope: z.enum(['operate', 'admin']).describe('Callers of at least this scope use the token.'),
  private: z.boolean().describe('The host may be in a private network or on this machine.'),
  insecure: z.boolean().describe('It uses HTTP without TLS.'),
};

/** A git host that the admin set up. Its token is written and never read. */
export const gitHost = z.object({
  host: gitHostName,
  ...hostFields,
  token: z.boolean().describe('Whether there is one.'),
});
export type GitHost = z.infer<typeof gitHost>;

/** What is left out stays as it is, or is the usual for the host. */
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

/** What is refused unless the request names it. */
export const publishAllowance = z.enum(['default-branch', 'ci-files']);
export type PublishAllowance = z.infer<typeof publishAllowance>;

const target = {
  url: repositoryUrl.optional().describe('The session’s own repository when omitted.'),
  base: branchName
    .optional()
    .describe('The branch to begin from and to merge into; the session’s own, else the default.'),
  branch: branchName.describe('The branch to push to; it is made when it is not there.'),
  allow: z
    .array(publishAllowance)
    .max(2)
    .default([])
    .describe('`default-branch`: push to it; `ci-files`: change what runs in CI.'),
};

/** Where a session’s changes are to go. */
export const publishTarget = z.object(target);

export const publishedFile = z.object({
  path: z.string(),
  from: z.string().optional().describe('Its name before it was renamed.'),
  status: z.enum(['added', 'changed', 'deleted', 'renamed']),
  added: z.int().nonnegative().nullable().describe('Lines; null for a binary file.'),
  removed: z.int().nonnegative().nullable(),
});

/** What a push would do. Nothing was sent yet. */
export const preparedPublish = z.object({
  id: z.string().describe('Stands for exactly this content and target; `publish` needs it.'),
  url: repositoryUrl,
  host: z.string(),
  kind: gitHostKind,
  base: branchName,
  branch: branchName,
  defaultBranch: branchName.nullable(),
  isNewBranch: z.boolean(),
  parent: z.string().describe('The commit that the new one follows.'),
  files: z.array(publishedFile),
  refusals: z
    .array(z.object({ needs: publishAllowance, message: z.string() }))
    .describe('What `publish` refuses until the request allows it.'),
  pullRequests: z.boolean().describe('Whether the host can be asked for one.'),
  into: repositoryUrl.describe(
    'The repository that a request goes into: what the session was cloned from, also from a fork of it.',
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
    .describe('Of what was prepared: other content is refused.'),
  message: commitMessage,
  pullRequest: z
    .object({
      title: z.string().trim().min(1).max(250),
      body: z.string().max(50_000).default(''),
      draft: z.boolean().default(false),
    })
    .nullable()
    .default(null)
    .describe('Opens a pull or merge request into `base`; null only pushes.'),
});

export const publishedChange = z.object({
  url: repositoryUrl,
  branch: branchName,
  commit: z.string(),
  branchPage: z.string().nullable().describe('Where the branch is shown.'),
  pullRequest: z.object({ url: z.string(), number: z.int(), isNew: z.boolean() }).nullable(),
  problem: z
    .string()
    .nullable()
    .describe('Why there is no pull request, when the push went well and that did not.'),
});
export type PublishedChange = z.infer<typeof publishedChange>;

/** A message for the commit of a session’s changes. */
export const draftedMessage = z.object({
  message: z.string(),
  model: z.string().nullable().describe('Which model wrote it; null for the plain one.'),
});
