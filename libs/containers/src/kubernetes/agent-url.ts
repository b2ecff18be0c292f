import { z } from 'zod';

/** Where pods reach the port for agents: `wss://HOST:PORT`. */
export const agentUrl = z
  .url({ protocol: /^wss$/, error: 'write wss://HOST:PORT, as pods reach it' })
  .refine((url) => /^wss:\/\/[^/]+:\d+\/?$/.test(url), 'write it with a port: wss://HOST:PORT');

/** URLs do not have it in writing. */
const standardPort = 443;

/** The port of such a URL. */
export const agentPortOf = (url: string): number => Number(new URL(url).port || standardPort);
