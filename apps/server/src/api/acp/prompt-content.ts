import type { PromptRequest } from '@agentclientprotocol/sdk';
import { api, routeName } from '@belay/protocol';
import { assertMay, type Caller } from '../../access/caller.js';
import type { AcpServices } from './acp-services.js';

type Services = Pick<AcpServices, 'pictures' | 'audit'>;

/** The text of a prompt, and its pictures as blobs. */
export async function promptContent(
  blocks: PromptRequest['prompt'],
  caller: Caller,
  services: Services,
): Promise<{ text: string; images: string[] }> {
  const texts: string[] = [];
  const images: string[] = [];
  for (const block of blocks) {
    if (block.type === 'text') texts.push(block.text);
    else if (block.type === 'resource_link') texts.push(`@${block.uri}`);
    else if (block.type === 'resource' && 'text' in block.resource)
      texts.push(`${block.resource.uri}:\n${block.resource.text}`);
    else if (block.type === 'image') images.push(await uploaded(block, caller, services));
  }
  return { text: texts.join('\n') || 'See the picture.', images };
}

/** Stores an upload like the REST route: only for callers that may operate, and with an audit entry. */
function uploaded(
  { data, mimeType }: { data: string; mimeType: string },
  caller: Caller,
  { pictures, audit }: Services,
): Promise<string> {
  const what = { action: routeName(api.uploads.blob) };
  audit.refusals(caller, what, () => assertMay(caller, 'operate'));
  return audit.run(caller, what, () =>
    pictures.upload(caller, Buffer.from(data, 'base64'), mimeType),
  );
}
