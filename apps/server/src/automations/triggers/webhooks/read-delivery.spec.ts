import type { Forge } from '../../forges/forge.js';
import {
  forgejoHook,
  giteaCommentPayload,
  giteaPayloads,
  githubCommentPayload,
  githubHook,
  githubPayloads,
  gitlabHook,
  gitlabNotePayload,
  gitlabPayloads,
  sampleSha as sha,
  type SentWebhook,
} from '../testing/webhook-payloads.js';
import { readDelivery } from './read-delivery.js';

const now = new Date('2026-03-01T12:00:30Z');
const read = (kind: Forge['kind'], { headers, body }: SentWebhook) =>
  readDelivery(kind, headers, Buffer.from(body), { fallbackId: 'fallback', now });

const seconds = Date.parse('2026-03-01T12:00:00Z') / 1_000;
const pull = { number: 12, sha, branch: 'feature' };

/** The occurrences of one thing are the same whichever host it happened at. */
describe('what webhooks say', () => {
  it.each([
    ['issues', githubPayloads.opened, { event: 'issue.opened', key: 'issue:12:opened' }],
    [
      'issues',
      githubPayloads.labeled,
      { event: 'issue.labelled', label: 'belay', key: `label:12:belay:@${seconds}` },
    ],
    ['issues', githubPayloads.assigned, { event: 'issue.assigned', assignee: 'heidi' }],
    [
      'issue_comment',
      githubCommentPayload('/belay fix it\nplease'),
      { event: 'issue.command', command: 'fix', comment: '77', key: 'comment:77' },
    ],
    [
      'issue_comment',
      githubCommentPayload('Looks fine.', { pull_request: { url: 'x' } }),
      { event: 'pull.commented', comment: '77' },
    ],
    ['pull_request', githubPayloads.pullOpened, { ...pull, event: 'pull.opened' }],
    [
      'pull_request',
      githubPayloads.pullUpdated,
      { ...pull, event: 'pull.updated', key: `pull:12:${sha}` },
    ],
    [
      'pull_request_review',
      githubPayloads.review,
      {
        ...pull,
        event: 'pull.reviewed',
        verdict: 'changes',
        key: 'review:88',
        review: 'review:88',
      },
    ],
    [
      'pull_request_review_comment',
      githubPayloads.line,
      { ...pull, event: 'pull.commented', key: 'line-comment:78', review: 'review:88' },
    ],
    [
      'push',
      githubPayloads.push,
      { event: 'push', branch: 'main', sha, key: `push:refs/heads/main:${sha}` },
    ],
    [
      'release',
      githubPayloads.release,
      { event: 'release.published', tag: 'v1', key: 'release:99' },
    ],
  ])('GitHub: %s', (event, payload, expected) => {
    const { occurrences, ...rest } = read('github', githubHook(event, payload));
    expect(occurrences).toMatchObject([
      { actor: { id: '5', name: 'ada', isBot: false }, ...expected },
    ]);
    expect(rest).toEqual({ delivery: `${event}-1`, event, repository: '17' });
  });

  it.each([
    ['Issue Hook', gitlabPayloads.opened, ['issue.opened', 'issue.labelled']],
    ['Issue Hook', gitlabPayloads.labels, ['issue.labelled', 'issue.assigned']],
    ['Note Hook', gitlabNotePayload('/belay fix'), ['issue.command']],
    ['Merge Request Hook', gitlabPayloads.mergeOpened, ['pull.opened']],
    ['Merge Request Hook', gitlabPayloads.mergeUpdated, ['pull.updated']],
    ['Merge Request Hook', gitlabPayloads.approved, ['pull.reviewed']],
    ['Push Hook', gitlabPayloads.push, ['push']],
  ])('GitLab: %s', (event, payload, events) => {
    const { occurrences, repository } = read('gitlab', gitlabHook(event, payload));
    expect(occurrences.map((each) => each.event)).toEqual(events);
    expect(repository).toBe('17');
    for (const each of occurrences) {
      expect(each.actor).toEqual({ id: '5', name: 'ada', isBot: false });
      if (event !== 'Push Hook') expect(each.number).toBe(12);
    }
  });

  it('knows what belongs to one review at GitLab by who said it and when', () => {
    const noteOf = (more: object) =>
      read('gitlab', gitlabHook('Note Hook', gitlabNotePayload('/belay fix', more))).occurrences[0];
    const approved = read('gitlab', gitlabHook('Merge Request Hook', gitlabPayloads.approved));
    const { merge } = gitlabPayloads;
    expect(noteOf(merge)).toMatchObject({ key: 'comment:77', review: `review:12:5:@${seconds}` });
    expect(approved.occurrences).toMatchObject([{ review: `review:12:5:@${seconds}` }]);
    expect(noteOf({})).not.toHaveProperty('review');
  });

  it.each([
    ['issues', giteaPayloads.opened, { event: 'issue.opened', key: 'issue:12:opened' }],
    [
      'issue_comment',
      giteaCommentPayload('/belay fix'),
      { event: 'issue.command', key: 'comment:77' },
    ],
    [
      'pull_request_comment',
      giteaCommentPayload('Fine.', { is_pull: true }),
      { event: 'pull.commented', key: 'comment:77' },
    ],
    ['pull_request', giteaPayloads.pullOpened, { ...pull, event: 'pull.opened' }],
    ['pull_request_sync', giteaPayloads.pullSync, { ...pull, key: `pull:12:${sha}` }],
    ['pull_request_review_rejected', giteaPayloads.rejected, { ...pull, verdict: 'changes' }],
    ['push', giteaPayloads.push, { event: 'push', key: `push:refs/heads/main:${sha}` }],
    ['release', giteaPayloads.release, { event: 'release.published', key: 'release:99' }],
  ])('Gitea and Forgejo: %s', (event, payload, expected) => {
    const { occurrences } = read('gitea', forgejoHook(event, payload));
    expect(occurrences).toMatchObject([{ actor: { id: '5', name: 'ada' }, ...expected }]);
  });

  it('has one hash for one text, as it is sent and as it is listed', () => {
    const hash = (kind: Forge['kind'], hook: SentWebhook) =>
      read(kind, hook).occurrences[0]?.textSha256;
    const github = hash('github', githubHook('issues', githubPayloads.opened));
    expect(github).toMatch(/^[0-9a-f]{64}$/);
    expect(hash('gitlab', gitlabHook('Issue Hook', gitlabPayloads.opened))).toBe(github);
    expect(hash('gitea', forgejoHook('issues', giteaPayloads.opened))).toBe(github);
    expect(hash('gitea', forgejoHook('pull_request_review_rejected', giteaPayloads.rejected))).toBe(
      github,
    );
    const edited = { ...githubPayloads.opened.issue, body: 'Always.' };
    const payload = { ...githubPayloads.opened, issue: edited };
    expect(hash('github', githubHook('issues', payload))).not.toBe(github);
  });

  it.each([
    ['github', githubHook('check_suite', githubPayloads.suite), { branch: 'feature', number: 12 }],
    ['gitlab', gitlabHook('Pipeline Hook', gitlabPayloads.pipeline), { branch: 'feature' }],
    ['gitea', forgejoHook('status', giteaPayloads.status), {}],
    ['gitea', forgejoHook('action_run_failure', giteaPayloads.actionRun), { number: 12 }],
  ] as const)('only asks about checks: %s', (kind, hook, expected) => {
    expect(read(kind, hook)).toMatchObject({ asks: true, occurrences: [{ sha, ...expected }] });
  });

  it('only asks which label was set where the payload does not say', () => {
    const { asks, occurrences } = read('gitea', forgejoHook('issue_label', giteaPayloads.labels));
    expect({ asks, occurrences }).toMatchObject({
      asks: true,
      occurrences: [{ event: 'issue.labelled', number: 12 }],
    });
  });

  it.each([
    ['github', githubHook('star', { action: 'created' }), 'Events star begin no runs.'],
    ['github', githubHook('constructor', {}), 'Events constructor begin no runs.'],
    [
      'github',
      githubHook('issue_comment', { ...githubCommentPayload('/belay fix'), action: 'edited' }),
      'Only new comments count.',
    ],
    [
      'github',
      githubHook('push', { ...githubPayloads.push, after: '0'.repeat(40) }),
      'The branch was deleted.',
    ],
    ['gitlab', gitlabHook('Issue Hook', gitlabPayloads.confidential), 'It is confidential.'],
    [
      'gitlab',
      gitlabHook('Confidential Note Hook', gitlabNotePayload('/belay fix')),
      'It is confidential.',
    ],
  ] as const)('says why it ignores something: %s', (kind, hook, why) => {
    expect(read(kind, hook)).toMatchObject({ occurrences: [], ignored: why });
  });

  it('refuses what it cannot read, in a sentence', () => {
    const refusal = (hook: SentWebhook) => read('github', hook).refused;
    const hook = githubHook('issues', githubPayloads.opened);
    expect(refusal({ ...hook, body: 'payload=%7B%7D' })).toContain('application/json');
    expect(refusal({ ...hook, headers: {} })).toBe('It has no header x-github-event.');
    const { sender: _, ...senderless } = githubPayloads.opened;
    expect(refusal(githubHook('issues', senderless))).toMatch(
      /^It is not as its host documents it: sender/,
    );
    expect(refusal(hook)).toBeUndefined();
  });

  it('knows bots by what their host says', () => {
    const bot = (kind: Forge['kind'], hook: SentWebhook) =>
      read(kind, hook).occurrences[0]?.actor?.isBot;
    const sender = { ...githubPayloads.opened.sender, type: 'Bot', login: 'x[bot]' };
    expect(bot('github', githubHook('issues', { ...githubPayloads.opened, sender }))).toBe(true);
    const user = { id: 6, username: 'project_17_bot_ab12' };
    expect(bot('gitlab', gitlabHook('Issue Hook', { ...gitlabPayloads.opened, user }))).toBe(true);
    const actions = { id: -2, login: 'gitea-actions' };
    const hook = forgejoHook('issues', { ...giteaPayloads.opened, sender: actions });
    expect(bot('gitea', hook)).toBe(true);
  });
});
