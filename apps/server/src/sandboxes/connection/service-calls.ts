import { Injectable } from '@nestjs/common';
import type { serverCalls, ServerService } from '@belay/protocol';
import type { RpcStream, Servers } from '@belay/rpc';
import { EgressService } from '../../egress/egress.service.js';
import { ModelGateway } from '../../models/model-gateway.js';
import { ApprovedServices, type ApprovedHandlers } from './approved-services.js';
import type { ConnectedSandbox, SessionOf } from './connected-sandbox.js';
import { KeptPrompt } from './kept-prompt.js';

type ServiceHandlers = ApprovedHandlers &
  Pick<Servers<typeof serverCalls>, 'model.generate' | 'egress.report'>;
type EgressTarget = Parameters<EgressService['connect']>[1];

/** Calls that the server executes for an agent, because only the server has keys and a network. */
@Injectable()
export class ServiceCalls {
  constructor(
    private readonly models: ModelGateway,
    private readonly approved: ApprovedServices,
    private readonly egress: EgressService,
  ) {}

  /** What the server is set up with. */
  get available(): ServerService[] {
    return this.approved.available;
  }

  /** For one connection: the agent of the next one sends its first prompt whole. */
  handlers(session: SessionOf, sandbox: ConnectedSandbox): ServiceHandlers {
    const prompt = new KeptPrompt();
    return {
      ...this.approved.handlers(session, sandbox),
      'model.generate': async (call, { signal }) => {
        const own = await session();
        return this.models.generate(own, prompt.take(call), { signal });
      },
      'egress.report': async () => ({ text: await this.egress.report(await session()) }),
    };
  }

  async connectOut(session: string, target: EgressTarget, stream: RpcStream): Promise<void> {
    await this.egress.connect(session, target, stream);
  }
}
