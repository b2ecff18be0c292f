import { createHmac, randomUUID } from 'node:crypto';
import type { PlayedHook } from './forge-records.js';
import type { Webhook } from './webhook-sender.js';

/** Which switch of a hook is about which event. */
const switches: Record<string, string> = {
  'Push Hook': 'push_events',
  'Tag Push Hook': 'tag_push_events',
  'Issue Hook': 'issues_events',
  'Confidential Issue Hook': 'confidential_issues_events',
  'Note Hook': 'note_events',
  'Confidential Note Hook': 'confidential_note_events',
  'Merge Request Hook': 'merge_requests_events',
  'Pipeline Hook': 'pipeline_events',
  'Job Hook': 'job_events',
  'Release Hook': 'releases_events',
};

export const gitlabSwitches = Object.values(switches);

export const gitlabWants = ({ events }: PlayedHook, { event }: Webhook): boolean =>
  events.includes(switches[event] ?? '');

/** The headers of a webhook from GitLab: a token that is sent as it is, or the newer signature. */
export function gitlabHeaders(signing: {
  hook: PlayedHook;
  guid: string;
  body: string;
  webhook: Webhook;
  site: string;
  /** Seconds since 1970. */
  at: number;
}): Record<string, string> {
  const { hook, guid, body, webhook, site, at } = signing;
  const { secret, signingSecret } = hook;
  const key = signingSecret?.startsWith('whsec_')
    ? Buffer.from(signingSecret.slice('whsec_'.length), 'base64')
    : signingSecret;
  const signature =
    key && createHmac('sha256', key).update(`${guid}.${at}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'user-agent': 'GitLab/18.5.0',
    'x-gitlab-event': webhook.event,
    'x-gitlab-webhook-uuid': randomUUID(),
    'x-gitlab-instance': site,
    'x-gitlab-event-uuid': randomUUID(),
    'idempotency-key': guid,
    ...(secret !== null && { 'x-gitlab-token': secret }),
    ...(signature && {
      'webhook-id': guid,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${signature}`,
    }),
  };
}
