import {
  operations,
  searchOperations,
  SentPrompt,
  type Event,
  type OperationOutput,
} from '@belay/protocol';
import { approveCall } from '../approve-call.js';
import { offeredIn, type CheckedCall } from '../check-call.js';
import { newNotice } from '../loop/budget-notice.js';
import { guide } from '../loop/guide.js';
import type { LoopOptions } from '../loop/loop-options.js';
import { Loop } from '../loop/loop.js';
import { promptParts, toolOf } from '../loop/prompt-parts.js';
import type { AgentDriver, DriverOptions } from './agent-driver.js';

/** Belay’s own loop. */
export class OwnDriver implements AgentDriver {
  readonly #loopOptions: LoopOptions;
  readonly #loop: Loop;

  constructor(options: DriverOptions) {
    this.#loopOptions = loopOptions(options);
    this.#loop = new Loop(this.#loopOptions);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  handle(events: readonly Event[]): void {
    this.#loop.handle(events);
  }

  async prompt(): Promise<OperationOutput<'session.prompt'>> {
    const { log, offered, workspace } = this.#loopOptions;
    const { conversation, spending } = log;
    const sandbox = conversation.sandbox ?? (await workspace.describe());
    const notice = newNotice(conversation, spending);
    return promptParts({ ...conversation, sandbox }, offered, notice);
  }

  guidanceChanged(paths: readonly string[]): Promise<void> {
    return guide(this.#loopOptions, this.#loopOptions.log.conversation, paths);
  }
}

function loopOptions(options: DriverOptions): LoopOptions {
  const { connection, log, writer, services, runner } = options;
  const offered = offeredIn(options.settings, options.serverServices);
  const sent = new SentPrompt();
  /** The best matches among unlisted operations. */
  const search = ({ input }: CheckedCall): OperationOutput<'actions.search'> => {
    const { query } = operations['actions.search'].input.parse(input);
    const searched = offered.filter((one) => one.search === 'found');
    return searchOperations(query, searched, (one) => toolOf(one, log.conversation));
  };
  return {
    log,
    writer,
    offered,
    queryModel: (request, signal) =>
      sent.send(request, (call) => connection.call('model.generate', call, { signal })),
    deliverMessages: options.deliver,
    runCall: async (call, context) =>
      call.operation.search === 'finder' ? search(call) : runner.run(call, context),
    hooks: {
      beforeCall: (call, context) => approveCall({ connection, log, writer }, call, context),
      afterCall: (id, call) => runner.record(id, call),
      refusals: async () => (await services).refusals(),
      settled: () => options.recorded(),
    },
    workspace: {
      describe: async () => (await services).describe(),
      guidance: async (paths, known, trusted) =>
        (await services).guidance.read(paths, known, trusted),
      page: () => options.page(),
    },
  };
}
