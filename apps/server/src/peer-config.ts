import { z } from 'zod';
import { blankIsUnset, faulty } from './variables.js';

/** The variable of a server that shares its database. */
export const peerVariables = {
  BELAY_PEER_URL: z.preprocess(
    blankIsUnset,
    z
      .url({ protocol: /^tcp$/, error: 'write tcp://HOST:PORT, as other servers reach this one' })
      .refine((url) => /^tcp:\/\/[^/]+:\d+$/.test(url), 'write it with a port: tcp://HOST:PORT')
      .optional(),
  ),
};

const variables = z.object(peerVariables);

/** HOST:PORT; undefined for a server that does not share its database. */
export function peerAddressOf(
  { BELAY_PEER_URL: url }: z.output<typeof variables>,
  databaseUrl: string | undefined,
): string | undefined {
  if (url !== undefined && databaseUrl === undefined)
    throw faulty('BELAY_PEER_URL needs DATABASE_URL: several servers share a PostgreSQL');
  return url?.replace('tcp://', '');
}
