import type { Duplex } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { serverCalls, StreamMeta } from '@belay/protocol';
import type { Servers } from '@belay/rpc';
import { ModelGateway } from '../../models/model-gateway.js';
import { WireGateway } from '../../models/wire/wire-gateway.js';
import type { SessionOf } from './connected-sandbox.js';
import { KeptPrompt } from './kept-prompt.js';

/** Calls of the session's model: by Belay's own agent, and by other programs in its sandbox. */
@Injectable()
export class ModelCalls {
  constructor(
    private readonly models: ModelGateway,
    private readonly wire: WireGateway,
  ) {}

  /** For one connection: its first call sends the whole prompt. */
  handlers(session: SessionOf): Pick<Servers<typeof serverCalls>, 'model.generate'> {
    const prompt = new KeptPrompt();
    return {
      'model.generate': async (call, { signal }) => {
        const own = await session();
        return this.models.generate(own, prompt.take(call), { signal });
      },
    };
  }

  /** Answers a program's request on its stream. */
  passOn(session: string, request: StreamMeta<'model'>, stream: Duplex): void {
    void this.wire.serve(session, request, stream);
  }
}
