import type { PlayedBefore, PlayedEvent, PlayedIssue } from './forge-records.js';
import { isPlayedPull } from './forge-state.js';
import type { GiteaCommitPayloads } from './gitea-commit-payloads.js';
import type { GiteaPayloads } from './gitea-payloads.js';
import { noCommit } from './played-git.js';
import type { RepositoryState } from './repository-state.js';
import type { Webhook } from './webhook-sender.js';

type Of<T extends PlayedEvent['type']> = Extract<PlayedEvent, { type: T }>;

const actions: Record<string, string> = {
  labeled: 'label_updated',
  unlabeled: 'label_updated',
  synchronize: 'synchronized',
  ready_for_review: 'edited',
  converted_to_draft: 'edited',
};

const reviewTypes = {
  approved: 'pull_request_review_approved',
  changes: 'pull_request_review_rejected',
  comment: 'pull_request_review_comment',
};

/** What Gitea and Forgejo send when something happens. */
export class GiteaWebhooks {
  constructor(
    private readonly state: RepositoryState,
    private readonly payloads: GiteaPayloads,
    private readonly commits: GiteaCommitPayloads,
    private readonly isForgejo: boolean,
  ) {}

  of(event: PlayedEvent): Webhook[] {
    const sender = this.payloads.user('by' in event ? event.by : this.state.self);
    const shared = { repository: this.payloads.repository(), sender };
    return this.#bodies(event).map(([name, body]) => ({
      event: name,
      body: { ...body, ...shared },
      headers: {},
    }));
  }

  #bodies(event: PlayedEvent): [name: string, body: object][] {
    switch (event.type) {
      case 'issue':
        return this.#issue(event);
      case 'comment':
        return [this.#comment(event)];
      case 'review':
        return this.#review(event);
      case 'line':
        // Replies to comments on lines send nothing; those of a review come with it.
        return [];
      case 'checks':
        return this.#checks(event);
      case 'push':
        return this.#push(event);
      case 'release':
        return [
          ['release', { action: 'published', release: this.payloads.release(event.release) }],
        ];
      case 'ping':
        return [];
    }
  }

  #issue({ action, issue, before, by }: Of<'issue'>): [string, object][] {
    // The labels of a new issue are part of its first webhook.
    if (action === 'labeled' && before.labels.length === issue.labels.length) return [];
    const kind = issue.pull ? 'pull_request' : 'issues';
    const single = issue.pull ? 'pull_request' : 'issue';
    const types: Record<string, string> = {
      labeled: `${single}_label`,
      unlabeled: `${single}_label`,
      assigned: `${single}_assign`,
      unassigned: `${single}_assign`,
      synchronize: 'pull_request_sync',
    };
    const body = {
      action: actions[action] ?? action,
      number: issue.number,
      ...(action === 'edited' && { changes: changesOf(issue, before) }),
      ...(isPlayedPull(issue)
        ? { pull_request: this.payloads.pull(issue), requested_reviewer: null, review: null }
        : { issue: this.payloads.issue(issue) }),
      commit_id: '',
      sender: this.payloads.user(by),
    };
    return [[types[action] ?? kind, body]];
  }

  #comment({ action, issue, comment, oldBody }: Of<'comment'>): [string, object] {
    const body = {
      action,
      issue: this.payloads.issue(issue),
      ...(isPlayedPull(issue) && { pull_request: this.payloads.pull(issue) }),
      comment: this.payloads.comment(issue, comment),
      ...(action === 'edited' && { changes: { body: { from: oldBody } } }),
      is_pull: issue.pull !== null,
    };
    return [issue.pull ? 'pull_request_comment' : 'issue_comment', body];
  }

  #review({ issue, review }: Of<'review'>): [string, object][] {
    const type = reviewTypes[review.verdict];
    const body = {
      action: 'reviewed',
      number: issue.number,
      pull_request: this.payloads.pull(issue),
      requested_reviewer: null,
      commit_id: '',
      review: { type, content: review.body },
    };
    return [[type, body]];
  }

  #checks({ changed }: Of<'checks'>): [string, object][] {
    return changed.flatMap((check): [string, object][] => {
      const { id, status, target_url, description, context, ...times } = this.commits.status(check);
      const commit = this.state.git.commitAt(check.sha);
      const said = {
        commit: commit ? this.commits.pushed(commit) : null,
        context,
        created_at: times.created_at,
        description,
        id,
        sha: check.sha,
        state: status,
        target_url,
        updated_at: times.updated_at,
      };
      const all: [string, object][] = [['status', said]];
      if (check.kind === 'status') return all;
      if (!this.isForgejo) return [...all, this.#run(check)];
      // Forgejo tells only of runs that ended.
      const word = { passed: 'success', failed: 'failure', pending: null, skipped: null };
      const action = word[check.state];
      if (action === null) return all;
      const run = this.commits.forgejoRun(check);
      return [...all, [`action_run_${action}`, { action, run, prior_status: 'running' }]];
    });
  }

  #run(check: Of<'checks'>['all'][number]): [string, object] {
    const body = {
      action: check.state === 'pending' ? 'in_progress' : 'completed',
      workflow: { id: 'ci.yml', name: 'CI', path: '.gitea/workflows/ci.yml', state: 'active' },
      workflow_run: this.commits.run(check),
    };
    return ['workflow_run', body];
  }

  #push({ ref, before, after, by }: Of<'push'>): [string, object][] {
    const { git, defaultBranch } = this.state;
    const isTag = ref.startsWith('refs/tags/');
    const short = ref.replace(/^refs\/(?:heads|tags)\//, '');
    const ref_type = isTag ? 'tag' : 'branch';
    if (after === noCommit) return [['delete', { ref: short, ref_type, pusher_type: 'user' }]];
    const start = before === noCommit ? git.resolve(defaultBranch) : before;
    const commits = isTag ? [] : git.commits(start ?? noCommit, after).toReversed();
    const head = git.commitAt(after);
    const body = {
      ref,
      before,
      after,
      compare_url: `${this.payloads.page}/compare/${before}...${after}`,
      commits: commits.map(this.commits.pushed),
      total_commits: commits.length,
      head_commit: head ? this.commits.pushed(head) : null,
      pusher: this.payloads.user(by),
    };
    const created: [string, object] = ['create', { sha: after, ref: short, ref_type }];
    return before === noCommit ? [created, ['push', body]] : [['push', body]];
  }
}

const changesOf = (issue: PlayedIssue, before: PlayedBefore): object => ({
  ...(before.title !== issue.title && { title: { from: before.title } }),
  ...(before.body !== issue.body && { body: { from: before.body } }),
});
