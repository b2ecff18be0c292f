import { randomUUID } from 'node:crypto';
import {
  describeCall,
  errorFrom,
  imagesOf,
  newEvent,
  operations,
  type ModelTool,
  type Operation,
} from '@belay/protocol';
import { approveCall } from '../approve-call.js';
import { checkCall, offeredIn, type CheckedCall } from '../check-call.js';
import { toolOf } from '../loop/prompt-parts.js';
import type { DriverOptions } from './agent-driver.js';
import type { UserQuestions } from './user-questions.js';

export interface ProgramCallOutcome {
  ok: boolean;
  /** The name of the operation. */
  operation: string;
  /** The operation’s output, or an error’s shape. */
  output: unknown;
  /** Blobs of pictures. */
  images: readonly string[];
}

/**
 * Belay’s operations for a program. Each call is one of the agent: logged, approved and run like those of Belay’s own
 * loop.
 */
export class ProgramCalls {
  readonly #options: DriverOptions;
  readonly #questions: UserQuestions;
  /** What a program cannot do better itself. */
  readonly #offered: readonly Operation[];

  constructor(options: DriverOptions, questions: UserQuestions) {
    this.#options = options;
    this.#questions = questions;
    const offered = offeredIn(options.settings, options.serverServices);
    this.#offered = offered.filter(
      ({ servedBy, idle, setting, search, display }) =>
        display === 'question' ||
        (servedBy === 'agent' && (!idle || setting !== null) && search !== 'finder'),
    );
  }

  tools(): ModelTool[] {
    return this.#offered.map((one) => toolOf(one, this.#options.log.conversation));
  }

  /** Runs a call of a tool; failures are outcomes. */
  async call(tool: string, input: unknown, signal: AbortSignal): Promise<ProgramCallOutcome> {
    const { conversation } = this.#options.log;
    const operation = this.#offered.find((one) => toolOf(one, conversation).name === tool);
    const name = operation?.name ?? tool;
    try {
      const call = checkCall(name, input, this.#offered);
      if (call.operation.display === 'question') return await this.#ask(call, signal);
      return await this.#run(call, signal);
    } catch (thrown) {
      const output = errorFrom(signal.aborted ? signal.reason : thrown).toJSON();
      return { ok: false, operation: name, output, images: [] };
    }
  }

  async #ask({ operation, input }: CheckedCall, signal: AbortSignal): Promise<ProgramCallOutcome> {
    const question = operations.ask.input.parse(input);
    const answer = await this.#questions.ask(question, signal);
    return { ok: true, operation: operation.name, output: { answer }, images: [] };
  }

  async #run(call: CheckedCall, signal: AbortSignal): Promise<ProgramCallOutcome> {
    const { writer, runner, page } = this.#options;
    const { operation, input } = call;
    const id = `belay-${randomUUID()}`;
    const message = describeCall(operation, input, page());
    writer.append({ source: 'agent', action: operation.name, args: input, message, id });
    const context = { id, source: 'agent', signal } as const;
    let started = performance.now();
    let outcome: Omit<ProgramCallOutcome, 'operation'>;
    let allowed = call;
    try {
      allowed = await approveCall(this.#options, call, context);
      started = performance.now();
      const output = await runner.run(allowed, context);
      outcome = { ok: true, output, images: imagesOf(operation, output) };
    } catch (thrown) {
      const output = errorFrom(signal.aborted ? signal.reason : thrown).toJSON();
      outcome = { ok: false, output, images: [] };
    }
    const seconds = (performance.now() - started) / 1_000;
    const { edited } = allowed;
    const args = { operation: operation.name, seconds, ...outcome, ...(edited && { edited }) };
    const ended = `${operation.name} ${outcome.ok ? 'done' : 'failed'}`;
    writer.append(
      newEvent('agent', 'result', {
        args: { ...args, images: [...outcome.images] },
        message: ended,
        id,
      }),
    );
    if (outcome.ok) runner.record(id, allowed);
    return { operation: operation.name, ...outcome };
  }
}
