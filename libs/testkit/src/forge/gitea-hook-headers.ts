import { createHmac } from 'node:crypto';
import type { PlayedHook } from './forge-records.js';
import type { Webhook } from './webhook-sender.js';

/** The coarser names of `X-Gitea-Event`, which are GitHub’s where those exist. */
const coarse: Record<string, string> = {
  issue_assign: 'issues',
  issue_label: 'issues',
  pull_request_assign: 'pull_request',
  pull_request_label: 'pull_request',
  pull_request_sync: 'pull_request',
  pull_request_comment: 'issue_comment',
  pull_request_review_approved: 'pull_request_approved',
  pull_request_review_rejected: 'pull_request_rejected',
  pull_request_review_comment: 'pull_request_comment',
};

/** Whether a hook wants an event: `issues` and `pull_request` stand for all events about them. */
export function giteaWants({ events }: PlayedHook, { event }: Webhook): boolean {
  const isReview = event.startsWith('pull_request_review_');
  const group = event.startsWith('issue') ? 'issues' : 'pull_request';
  const isGrouped = /^(?:issue|pull_request)/.test(event) && events.includes(group);
  const only = event === 'issues' || event === 'pull_request';
  return (
    isGrouped ||
    (only ? events.includes(`${event}_only`) : events.includes(event)) ||
    (isReview && events.includes('pull_request_review'))
  );
}

/** The headers of a webhook: Forgejo sends those of all its ancestors at once. */
export function giteaHeaders(signing: {
  hook: PlayedHook;
  guid: string;
  json: string;
  webhook: Webhook;
  isForgejo: boolean;
}): Record<string, string> {
  const { hook, guid, json, webhook, isForgejo } = signing;
  const { event: type } = webhook;
  const event = coarse[type] ?? type;
  // Of the JSON, also when it is sent as a form.
  const hmac = (algorithm: string) =>
    hook.secret === null ? '' : createHmac(algorithm, hook.secret).update(json).digest('hex');
  const families = isForgejo ? ['forgejo', 'gitea', 'gogs'] : ['gitea', 'gogs'];
  const own = families.flatMap((name) => [
    [`x-${name}-delivery`, guid],
    [`x-${name}-event`, event],
    [`x-${name}-event-type`, type],
    [`x-${name}-signature`, hmac('sha256')],
  ]);
  return {
    'content-type': hook.isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    'user-agent': 'Go-http-client/1.1',
    ...(Object.fromEntries(own) as Record<string, string>),
    'x-hub-signature': `sha1=${hmac('sha1')}`,
    'x-hub-signature-256': `sha256=${hmac('sha256')}`,
    'x-github-delivery': guid,
    'x-github-event': event,
    'x-github-event-type': type,
  };
}
