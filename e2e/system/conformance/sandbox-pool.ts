import { type BelayServer, type Followed, idle, prepared } from '@belay/testkit';
import type { ConformanceTarget } from '../../../apps/agent/src/terminal/conformance/target.js';
import { sandboxTarget, sweep } from './sandbox-target.js';

/** Sandboxes of one image, each for one case at a time; as many are started as are in use at once. */
export class SandboxPool {
  readonly #server: BelayServer;
  readonly #image: string;
  readonly #sessions: Followed[] = [];
  readonly #free: ConformanceTarget[] = [];

  /** The image is an environment variable with its name. */
  constructor(server: BelayServer, image: string) {
    this.#server = server;
    this.#image = image;
  }

  /** Runs a case in an empty workspace without terminals. */
  async use(run: (target: ConformanceTarget) => Promise<void>): Promise<void> {
    const target = this.#free.pop() ?? (await this.#start());
    try {
      await run(target);
    } finally {
      await sweep(target);
      this.#free.push(target);
    }
  }

  close(): void {
    for (const session of this.#sessions) session.close();
  }

  async #start(): Promise<ConformanceTarget> {
    const session = await idle(this.#server, { image: prepared(this.#image) });
    this.#sessions.push(session);
    return sandboxTarget(this.#server, session);
  }
}
