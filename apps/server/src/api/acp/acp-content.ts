import type { PromptRequest, ToolCallContent } from '@agentclientprotocol/sdk';
import { Injectable } from '@nestjs/common';
import { actionOutput, api, routeName, type EventArgs } from '@belay/protocol';
import { AuditLog } from '../../access/audit-log.js';
import { assertMay, type Caller } from '../../access/caller.js';
import { AttachedPictures } from '../../logs/attached-pictures.js';
import { BlobStore } from '../../logs/blob-store.js';

/** Pictures and sounds of one result; the dashboard has the rest. */
const maxMedia = 4;
const maxMediaBytes = 4 * 2 ** 20;
const withAudio = actionOutput.pick({ audio: true }).partial();

/** What prompts contain, and what results contain besides text. */
@Injectable()
export class AcpContent {
  constructor(
    private readonly pictures: AttachedPictures,
    private readonly audit: AuditLog,
    private readonly blobs: BlobStore,
  ) {}

  /** The text of a prompt, and its pictures as blobs. */
  async ofPrompt(
    blocks: PromptRequest['prompt'],
    caller: Caller,
  ): Promise<{ text: string; images: string[] }> {
    const texts: string[] = [];
    const images: string[] = [];
    for (const block of blocks) {
      if (block.type === 'text') texts.push(block.text);
      else if (block.type === 'resource_link') texts.push(`@${block.uri}`);
      else if (block.type === 'resource' && 'text' in block.resource)
        texts.push(`${block.resource.uri}:\n${block.resource.text}`);
      else if (block.type === 'image') images.push(await this.#uploaded(block, caller));
    }
    return { text: texts.join('\n') || 'See the picture.', images };
  }

  /** The pictures and sounds of a result. Those that are too large or gone are left out. */
  async ofResult(
    session: string,
    { images, output }: Pick<EventArgs<'result'>, 'images' | 'output'>,
  ): Promise<ToolCallContent[]> {
    const { audio = [] } = withAudio.safeParse(output).data ?? {};
    const media = await Promise.all(
      [...new Set([...images, ...audio])]
        .slice(0, maxMedia)
        .map((blob) => this.#block(session, blob)),
    );
    return media.flat();
  }

  async #block(session: string, blob: string): Promise<ToolCallContent[]> {
    const stored = await this.blobs.getOf(session, blob).catch(() => undefined);
    if (!stored || stored.bytes.length > maxMediaBytes) return [];
    const [kind] = stored.type.split('/');
    if (kind !== 'image' && kind !== 'audio') return [];
    const data = stored.bytes.toString('base64');
    return [{ type: 'content', content: { type: kind, data, mimeType: stored.type } }];
  }

  /** Stores an upload like the REST route: only for callers that may operate, and with an audit entry. */
  #uploaded({ data, mimeType }: { data: string; mimeType: string }, caller: Caller) {
    const what = { action: routeName(api.uploads.blob) };
    this.audit.refusals(caller, what, () => assertMay(caller, 'operate'));
    return this.audit.run(caller, what, () =>
      this.pictures.upload(caller, Buffer.from(data, 'base64'), mimeType),
    );
  }
}
