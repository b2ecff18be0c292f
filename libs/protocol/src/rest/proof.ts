import { z } from 'zod';
import { agentTrace, agentTraceMediaType } from '../agent-trace.js';
import { notedHead, publishedKey, publishedKeys, sha256Digest, signedEnvelope } from '../proof.js';
import { rerunReport } from '../reruns.js';
import { count } from './count.js';
import { bytes, route } from './route.js';

/** The log of a session with its digests. */
export const sessionLogRoutes = {
  storedLog: route({
    method: 'GET',
    path: '/api/sessions/:id/log',
    summary: 'Reads the whole log as it is stored, with the digest of each event',
    description:
      'One JSON object a line: first the end of the log, then each event with its digest. `belay verify` and `examples/verify.py` check such a file without the server.',
    query: z.object({
      contents: z
        .enum(['shown', 'hidden'])
        .default('shown')
        .describe(
          '`hidden`: only the digest of each event’s content, which the chain still covers.',
        ),
    }),
    response: bytes('application/x-ndjson'),
  }),
};

/** Where the keys of a server are, for whoever verifies what it signed. */
export const keysPath = '/.well-known/belay-keys.json';

export const proofRoutes = {
  keys: route({
    method: 'GET',
    path: keysPath,
    summary: 'Returns the public keys with which this server has signed, as a JSON Web Key Set',
    response: publishedKeys,
    access: 'open',
  }),
  rotateKey: route({
    method: 'POST',
    path: '/api/keys/rotate',
    summary: 'Signs with a new key from now on; what earlier ones signed still holds',
    response: publishedKey,
    access: 'admin',
  }),
  revokeKey: route({
    method: 'POST',
    path: '/api/keys/:kid/revoke',
    summary: 'Revokes a signing key: nothing that it ever signed holds any longer',
    params: z.object({ kid: sha256Digest }),
    response: publishedKey,
    access: 'admin',
  }),
  evidence: route({
    method: 'GET',
    path: '/api/evidence/:id',
    summary: 'Returns the signed statement about a published change, by the trailer of its commit',
    params: z.object({ id: sha256Digest }),
    response: signedEnvelope,
    about: 'caller',
  }),
  testResult: route({
    method: 'GET',
    path: '/api/evidence/:id/test-result',
    summary:
      'Returns what was run again for a published change, as a signed Test Result of in-toto',
    description: 'For tools that know only this standard predicate; the statement says more.',
    params: z.object({ id: sha256Digest }),
    response: signedEnvelope,
    about: 'caller',
  }),
  trace: route({
    method: 'GET',
    path: '/api/evidence/:id/trace',
    summary: 'Returns which lines of a published commit were added by whom, as Agent Trace 0.1.0',
    description:
      'The statement has the digest of it without `vcs`. Commits of earlier versions have none.',
    params: z.object({ id: sha256Digest }),
    response: bytes(agentTraceMediaType, { schema: agentTrace }),
    about: 'caller',
  }),
  repeatReruns: route({
    method: 'POST',
    path: '/api/evidence/:id/reruns',
    summary:
      'Judges the claims of a statement again, in fresh sandboxes on the files that the git host has',
    description:
      'The same commands on the same commits, in the image that has the same name now. Takes up to five minutes.',
    params: z.object({ id: sha256Digest }),
    response: rerunReport,
    about: 'caller',
  }),
  heads: route({
    method: 'GET',
    path: '/api/log-heads',
    summary: 'Lists the ends of logs at the times when they were published or their sessions ended',
    description:
      'In the order in which they were noted. Keep them elsewhere, and ask again for those after the last `id` that you have: they show whether a log was changed later, even with the whole database.',
    query: z.object({
      after: count.default(0),
      limit: z.coerce.number<number>().int().positive().max(1_000).default(1_000),
    }),
    paged: true,
    response: z.array(notedHead),
    access: 'admin',
  }),
};
