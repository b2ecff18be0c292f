import { createHmac } from 'node:crypto';

export const payloadSecret = 'otter-secret';

const hmac = (body: string | Buffer, secret: string): Buffer =>
  createHmac('sha256', secret).update(body).digest();

/** A webhook as its host sends it: the body’s bytes with the headers that sign them. */
export interface SentWebhook {
  headers: Record<string, string>;
  body: string;
}

type Signing = { secret?: string; id?: string };

export function githubHook(
  event: string,
  payload: object,
  { secret = payloadSecret, id = `${event}-1` }: Signing = {},
): SentWebhook {
  const body = JSON.stringify(payload);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${hmac(body, secret).toString('hex')}`,
    },
  };
}

/** Forgejo sends the headers of Gitea, too, and those of GitHub. */
export function forgejoHook(
  event: string,
  payload: object,
  { secret = payloadSecret, id = `${event}-1` }: Signing = {},
): SentWebhook {
  const body = JSON.stringify(payload);
  const hex = hmac(body, secret).toString('hex');
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-forgejo-delivery': id,
      'x-forgejo-event-type': event,
      'x-forgejo-signature': hex,
      'x-gitea-delivery': id,
      'x-gitea-event-type': event,
      'x-gitea-signature': hex,
      'x-github-event': event,
      'x-hub-signature-256': `sha256=${hex}`,
    },
  };
}

export function gitlabHook(
  event: string,
  payload: object,
  {
    secret = payloadSecret,
    id = `${event}-1`,
    time,
  }: Signing & { /** Signs it the new way. */ time?: Date } = {},
): SentWebhook {
  const body = JSON.stringify(payload);
  const seconds = time ? String(Math.floor(time.getTime() / 1_000)) : '';
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-gitlab-event': event,
      'x-gitlab-event-uuid': id,
      'idempotency-key': id,
      ...(time
        ? {
            'webhook-id': id,
            'webhook-timestamp': seconds,
            'webhook-signature': `v1,${hmac(`${id}.${seconds}.${body}`, secret).toString('base64')}`,
          }
        : { 'x-gitlab-token': secret }),
    },
  };
}

export const sampleSha = '6dcb09b5b57875f334f61aebed695e2e4193db5e';

/** The fields of documented payloads that are read, with a few that are not. */
const githubPayloadUser = { login: 'ada', id: 5, node_id: 'x', type: 'User', site_admin: false };
const githubRepository = { id: 17, full_name: 'acme/api', private: true };
const githubPayloadIssue = {
  id: 1_000,
  number: 12,
  title: 'It fails',
  body: 'Sometimes.',
  state: 'open',
  user: githubPayloadUser,
  labels: [{ id: 1, name: 'belay' }],
  author_association: 'OWNER',
  created_at: '2026-03-01T11:00:00Z',
  updated_at: '2026-03-01T12:00:00Z',
};
const githubPayloadPull = {
  ...githubPayloadIssue,
  draft: false,
  head: { ref: 'feature', sha: sampleSha, repo: { id: 17 } },
  base: { ref: 'main', sha: '0'.repeat(40), repo: { id: 17 } },
};
const sentBy = { repository: githubRepository, sender: githubPayloadUser };

export const githubCommentPayload = (body: string, more: object = {}) => ({
  action: 'created',
  issue: { ...githubPayloadIssue, ...more },
  comment: { id: 77, body, user: githubPayloadUser, created_at: '2026-03-01T12:00:00Z' },
  ...sentBy,
});

export const githubPayloads = {
  opened: { action: 'opened', issue: githubPayloadIssue, ...sentBy },
  labeled: { action: 'labeled', issue: githubPayloadIssue, label: { name: 'belay' }, ...sentBy },
  assigned: {
    action: 'assigned',
    issue: githubPayloadIssue,
    assignee: { ...githubPayloadUser, login: 'heidi', id: 6 },
    ...sentBy,
  },
  pullOpened: { action: 'opened', number: 12, pull_request: githubPayloadPull, ...sentBy },
  pullUpdated: { action: 'synchronize', number: 12, pull_request: githubPayloadPull, ...sentBy },
  review: {
    action: 'submitted',
    pull_request: githubPayloadPull,
    review: {
      id: 88,
      state: 'changes_requested',
      body: 'No.',
      submitted_at: '2026-03-01T12:00:00Z',
    },
    ...sentBy,
  },
  line: {
    action: 'created',
    pull_request: githubPayloadPull,
    comment: {
      id: 78,
      body: 'Why?',
      user: githubPayloadUser,
      created_at: '2026-03-01T12:00:00Z',
      pull_request_review_id: 88,
    },
    ...sentBy,
  },
  suite: {
    action: 'completed',
    check_suite: {
      head_branch: 'feature',
      head_sha: sampleSha,
      conclusion: 'failure',
      pull_requests: [{ number: 12 }],
      updated_at: '2026-03-01T12:00:00Z',
    },
    ...sentBy,
  },
  push: { ref: 'refs/heads/main', before: '0'.repeat(40), after: sampleSha, ...sentBy },
  release: {
    action: 'published',
    release: { id: 99, tag_name: 'v1', name: 'One', published_at: '2026-03-01T12:00:00Z' },
    ...sentBy,
  },
  ping: { zen: 'Keep it logically awesome.', hook_id: 1, ...sentBy },
};

const gitlabPayloadUser = { id: 5, name: 'Ada', username: 'ada' };
const gitlabProject = { id: 17, path_with_namespace: 'acme/api' };
const gitlabIssue = {
  id: 301,
  iid: 12,
  title: 'It fails',
  description: 'Sometimes.',
  confidential: false,
  created_at: '2026-03-01 11:00:00 UTC',
  updated_at: '2026-03-01 12:00:00 UTC',
};
const gitlabMerge = {
  ...gitlabIssue,
  source_branch: 'feature',
  target_branch: 'main',
  last_commit: { id: sampleSha },
};
const ofGitlab = (kind: string, attributes: object, more: object = {}) => ({
  object_kind: kind,
  user: gitlabPayloadUser,
  project: gitlabProject,
  object_attributes: attributes,
  ...more,
});

export const gitlabNotePayload = (note: string, more: object = {}) =>
  ofGitlab(
    'note',
    {
      id: 77,
      note,
      noteable_type: 'Issue',
      action: 'create',
      system: false,
      created_at: '2026-03-01 12:00:00 UTC',
    },
    { issue: { iid: 12 }, ...more },
  );

export const gitlabPayloads = {
  opened: ofGitlab('issue', { ...gitlabIssue, action: 'open' }, { labels: [{ title: 'belay' }] }),
  labels: ofGitlab(
    'issue',
    { ...gitlabIssue, action: 'update' },
    {
      changes: {
        labels: { previous: [{ title: 'a' }], current: [{ title: 'a' }, { title: 'belay' }] },
        assignees: { previous: [], current: [{ username: 'heidi' }] },
      },
    },
  ),
  confidential: ofGitlab('issue', { ...gitlabIssue, confidential: true, action: 'open' }),
  mergeOpened: ofGitlab('merge_request', { ...gitlabMerge, action: 'open' }),
  mergeUpdated: ofGitlab('merge_request', {
    ...gitlabMerge,
    action: 'update',
    oldrev: '0'.repeat(39),
  }),
  approved: ofGitlab('merge_request', { ...gitlabMerge, action: 'approved' }),
  /** What makes a comment one on a merge request. */
  merge: {
    merge_request: gitlabMerge,
    object_attributes: {
      id: 77,
      note: 'Fine.',
      noteable_type: 'MergeRequest',
      action: 'create',
      created_at: '2026-03-01 12:00:00 UTC',
    },
  },
  pipeline: ofGitlab(
    'pipeline',
    { id: 31, ref: 'feature', tag: false, sha: sampleSha, status: 'failed', finished_at: null },
    { merge_request: null },
  ),
  push: {
    object_kind: 'push',
    ref: 'refs/heads/main',
    after: sampleSha,
    user_id: 5,
    user_username: 'ada',
    project: gitlabProject,
  },
};

const giteaPayloadUser = { id: 5, login: 'ada', full_name: '', email: 'ada@acme.dev' };
const giteaPayloadIssue = { ...githubPayloadIssue, user: giteaPayloadUser, pull_request: null };
const ofGitea = { repository: { id: 17, full_name: 'acme/api' }, sender: giteaPayloadUser };
const giteaPayloadPull = { ...githubPayloadPull, user: giteaPayloadUser };

export const giteaCommentPayload = (body: string, more: object = {}) => ({
  action: 'created',
  issue: giteaPayloadIssue,
  comment: { id: 77, body, user: giteaPayloadUser, created_at: '2026-03-01T12:00:00Z' },
  is_pull: false,
  ...ofGitea,
  ...more,
});

export const giteaPayloads = {
  opened: { action: 'opened', number: 12, issue: giteaPayloadIssue, ...ofGitea },
  labels: { action: 'label_updated', number: 12, issue: giteaPayloadIssue, ...ofGitea },
  pullOpened: { action: 'opened', number: 12, pull_request: giteaPayloadPull, ...ofGitea },
  pullSync: { action: 'synchronized', number: 12, pull_request: giteaPayloadPull, ...ofGitea },
  rejected: {
    action: 'reviewed',
    number: 12,
    pull_request: giteaPayloadPull,
    review: { type: 'pull_request_review_rejected', content: 'No.' },
    ...ofGitea,
  },
  status: { sha: sampleSha, state: 'failure', context: 'ci', ...ofGitea },
  actionRun: {
    action: 'failure',
    run: { id: 4, commit_sha: sampleSha, prettyref: '#12' },
    ...ofGitea,
  },
  push: { ref: 'refs/heads/main', before: '0'.repeat(40), after: sampleSha, ...ofGitea },
  release: {
    action: 'published',
    release: { id: 99, tag_name: 'v1', published_at: '2026-03-01T12:00:00Z' },
    ...ofGitea,
  },
};
