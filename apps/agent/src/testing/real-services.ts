import { gatewayUrl } from '@belay/protocol';
import type { AgentServices, CreateServices } from '../agent-services.js';
import type { AgentEnvironment } from '../environment.js';
import { openServices } from '../open-services.js';

/** The real services of a session on a stage, whose model gateway has a free port. */
export class RealServices {
  readonly #environment: () => AgentEnvironment;
  #history: AgentServices['history'] | undefined;
  /** The address of the session’s model; empty until programs may call it. */
  modelUrl = '';

  constructor(environment: () => AgentEnvironment) {
    this.#environment = environment;
  }

  readonly open: CreateServices = async (session) => {
    const services = await openServices(this.#environment(), session, { gatewayPort: 0 });
    this.#history = services.history;
    return {
      ...services,
      openGateway: async (options) => {
        const gateway = await services.openGateway(options);
        this.modelUrl = gatewayUrl('openai', gateway.port);
        return gateway;
      },
    };
  };

  /** Holds all commits of calls back; returns what lets them go on. */
  holdCommits(): () => void {
    const history = this.#history;
    if (!history) throw new Error('The services are not open yet.');
    const released = Promise.withResolvers<void>();
    const commit = history.commit.bind(history);
    history.commit = (call) => released.promise.then(() => commit(call));
    return released.resolve;
  }
}
