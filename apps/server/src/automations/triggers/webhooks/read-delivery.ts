import type { IncomingHttpHeaders } from 'node:http';
import { faultOf, isNestedDeeper, jsonFault } from '@belay/protocol';
import { z } from 'zod';
import type { Forge } from '../../forges/forge.js';
import { readGiteaDelivery } from './gitea-delivery.js';
import { readGithubDelivery } from './github-delivery.js';
import { readGitlabDelivery } from './gitlab-delivery.js';
import { payloadId, type ReadDelivery, type ReadPayload } from './payload-parts.js';
import { headerOf } from './verify-signature.js';

/** Far above honest payloads, and so shallow that a recursive reader cannot overflow its stack. */
const bounds = { characters: 8 * 2 ** 20, depth: 64, values: 500_000 };

const kinds: Readonly<
  Record<
    Forge['kind'],
    {
      ids: readonly string[];
      events: readonly string[];
      read: (event: string, payload: unknown, now: string) => ReadPayload;
    }
  >
> = {
  github: {
    ids: ['x-github-delivery'],
    events: ['x-github-event'],
    read: readGithubDelivery,
  },
  gitlab: {
    ids: ['webhook-id', 'idempotency-key', 'x-gitlab-event-uuid'],
    events: ['x-gitlab-event'],
    read: readGitlabDelivery,
  },
  gitea: {
    ids: ['x-forgejo-delivery', 'x-gitea-delivery'],
    events: ['x-forgejo-event-type', 'x-gitea-event-type'],
    read: readGiteaDelivery,
  },
};

const repositoryOf = z.union([
  z.object({ project: z.object({ id: payloadId }) }).transform(({ project }) => project.id),
  z
    .object({ repository: z.object({ id: payloadId }) })
    .transform(({ repository }) => repository.id),
]);

/**
 * What a delivery of a host says. Its signature must have been checked before. Never throws: what cannot be read has its
 * reason in `refused`. `fallbackId` identifies one without an id of its own.
 */
export function readDelivery(
  kind: Forge['kind'],
  headers: IncomingHttpHeaders,
  body: Buffer,
  { fallbackId, now }: { fallbackId: string; now: Date },
): ReadDelivery {
  const { ids, events, read } = kinds[kind];
  const first = (names: readonly string[]): string | undefined =>
    names.map((name) => headerOf(headers, name)).find((value) => value !== undefined);
  const event = first(events)?.slice(0, 100) ?? '';
  const same = { delivery: first(ids) ?? fallbackId, event: event === '' ? 'unknown' : event };
  const refused = (why: string): ReadDelivery => ({
    ...same,
    repository: null,
    occurrences: [],
    refused: why,
  });
  if (event === '') return refused(`It has no header ${events.at(-1)}.`);
  if (isNestedDeeper(body, bounds.depth))
    return refused(`Its JSON is nested deeper than ${bounds.depth} levels.`);
  const payload = jsonOf(body);
  if (payload === undefined)
    return refused('It is not JSON: choose the content type application/json for the webhook.');
  const fault = jsonFault(payload, bounds);
  if (fault !== undefined) return refused(`Its JSON ${fault}.`);
  try {
    const repository = repositoryOf.safeParse(payload).data ?? null;
    return { ...same, repository, ...read(event, payload, now.toISOString()) };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return refused(`It is not as its host documents it: ${faultOf(error)}.`);
  }
}

function jsonOf(body: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
