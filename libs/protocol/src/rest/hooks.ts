import { z } from 'zod';
import { bytes, route } from './route.js';

const taken = z.object({
  delivery: z.string().nullable().describe('The id of what was stored; null for a test.'),
});

/**
 * What begins runs from outside. They are open: a webhook is signed by its git host, and a request to an automation’s own
 * address has a secret of its own.
 */
export const hookRoutes = {
  git: route({
    method: 'POST',
    path: '/hooks/git/:source',
    summary: 'Receives a webhook of a git host',
    description:
      'Signed with the secret of the webhook, as GitHub, GitLab, Gitea or Forgejo do it. An unknown source and a wrong signature get the same answer.',
    body: bytes('application/json', { schema: z.unknown().describe('The host’s payload.') }),
    response: taken,
    status: 202,
    otherStatus: 200,
    access: 'open',
    unaudited: true,
  }),
  run: route({
    method: 'POST',
    path: '/hooks/run/:id',
    summary: 'Begins a run of the automation with this address',
    description:
      'Needs the header `Authorization: Bearer bhk_…` with the automation’s own secret. A request with the same `Idempotency-Key` is taken once.',
    body: bytes('application/json', {
      schema: z.record(z.string(), z.unknown()).describe('Data for the run.'),
    }),
    headers: { 'idempotency-key': z.string().max(200).optional() },
    response: taken,
    status: 202,
    access: 'open',
    unaudited: true,
  }),
};
