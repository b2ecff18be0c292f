import { z } from 'zod';
import type { ForgeApi } from './forge-api.js';
import { hostId, pathPart } from './forge-fields.js';

export interface WantedHook {
  /** Of the hook that was made before. */
  id: string | null;
  url: string;
  /** What to send when it is made, and when it is renewed. */
  made: unknown;
  renewed: unknown;
  renewBy: 'PATCH' | 'PUT';
}

/** GitLab has the address beside the id, where GitHub has that of the hook itself; the others have it in the settings. */
const listedHook = z.object({
  id: hostId,
  url: z.string().nullish(),
  config: z.object({ url: z.string().nullish() }).nullish(),
});

const doing = 'make webhooks';

/**
 * Makes or renews a webhook. One for the same address is renewed even if its id was not noted, because a host may refuse a
 * second one. No error quotes the host, which could repeat the secret.
 */
export async function makeHook(
  api: ForgeApi,
  { id, url, made, renewed, renewBy }: WantedHook,
): Promise<string> {
  const path = api.at('hooks');
  const known = id ?? (await hookAt(api, path, url));
  if (known !== undefined) {
    const call = { method: renewBy, path: `${path}/${pathPart(known)}`, body: renewed } as const;
    const answer = await api.answer(call);
    if (answer.status >= 200 && answer.status < 300) return known;
    if (answer.status !== 404) throw api.refusal(doing, { ...answer, body: undefined });
  }
  const answer = await api.answer({ method: 'POST', path, body: made });
  if (answer.status !== 200 && answer.status !== 201)
    throw api.refusal(doing, { ...answer, body: undefined });
  return api.parse(doing, answer, z.object({ id: hostId })).id;
}

/** One that is gone is not an error. */
export async function deleteHook(api: ForgeApi, id: string): Promise<void> {
  const path = api.at(`hooks/${pathPart(id)}`);
  const answer = await api.answer({ method: 'DELETE', path });
  if (answer.status >= 300 && answer.status !== 404) throw api.refusal('remove webhooks', answer);
}

async function hookAt(api: ForgeApi, path: string, url: string): Promise<string | undefined> {
  const hooks = await api.list(doing, path, listedHook, { pages: 2 });
  return hooks.find((one) => one.url === url || one.config?.url === url)?.id;
}
