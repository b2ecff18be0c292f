import { randomUUID } from 'node:crypto';
import { AppError, errorFrom, faultOf, type Contract } from '@belay/protocol';
import type { Frame } from './frame.js';
import type { ServeContext } from './rope.js';

type Handler = (input: unknown, context: ServeContext) => Promise<unknown>;

interface Pending {
  frame: Frame & { kind: 'call' };
  resolve(output: unknown): void;
  reject(error: AppError): void;
}

/** Calls of the other end that run at once, at most; more are refused. */
const parallelCalls = 2_000;

/** The calls of one end, both ways. The link delivers each frame once, so each call runs once. */
export class Calls {
  readonly #pending = new Map<string, Pending>();
  readonly #running = new Map<string, AbortController>();
  #handlers: Record<string, Handler> = {};
  #closed: AppError | undefined;

  constructor(
    private readonly contracts: { serves: Contract; calls: Contract },
    private readonly send: (frame: Frame) => void,
  ) {}

  serve(handlers: object): void {
    this.#handlers = { ...this.#handlers, ...handlers };
  }

  async call(name: string, input: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#closed) throw this.#closed;
    if (signal?.aborted) throw cancelled(name);
    const id = randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const frame = { kind: 'call' as const, id, name, input };
    this.#pending.set(id, { frame, resolve, reject });
    const cancel = (): void => {
      this.send({ kind: 'cancel', id });
      reject(cancelled(name));
    };
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      this.send(frame);
      return this.#read(name, await promise);
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.#pending.delete(id);
    }
  }

  /** Whether the frame was about a call. */
  receive(frame: Frame): boolean {
    switch (frame.kind) {
      case 'call':
        void this.#run(frame);
        return true;
      case 'answer':
        this.#pending.get(frame.id)?.resolve(frame.output);
        return true;
      case 'fail':
        this.#pending.get(frame.id)?.reject(errorFrom(frame.error));
        return true;
      case 'cancel':
        this.#running.get(frame.id)?.abort(cancelled('The call'));
        return true;
      default:
        return false;
    }
  }

  /** There is another peer now: it is asked again, and who asked before no longer waits. */
  again(): void {
    this.#abort(new AppError('unavailable', 'The caller was started anew.'));
    for (const { frame } of this.#pending.values()) this.send(frame);
  }

  close(error: AppError): void {
    this.#closed = error;
    this.#abort(error);
    for (const { reject } of this.#pending.values()) reject(error);
  }

  #abort(error: AppError): void {
    const running = [...this.#running.values()];
    this.#running.clear();
    for (const controller of running) controller.abort(error);
  }

  async #run(frame: Frame & { kind: 'call' }): Promise<void> {
    const controller = new AbortController();
    const { id } = frame;
    if (this.#running.has(id)) return;
    this.#running.set(id, controller);
    const reply = await this.#serve(frame, controller.signal);
    // Who asked may be gone, with all that belonged to it.
    if (this.#running.get(id) !== controller) return;
    this.#running.delete(id);
    try {
      this.send(reply);
    } catch (error) {
      this.send({ kind: 'fail', id, error: errorFrom(error).toJSON() });
    }
  }

  async #serve(frame: Frame & { kind: 'call' }, signal: AbortSignal): Promise<Frame> {
    const { id, name } = frame;
    try {
      if (this.#running.size > parallelCalls) {
        throw new AppError('limit_reached', `More than ${parallelCalls} calls at once.`);
      }
      const known = Object.hasOwn(this.contracts.serves, name);
      const procedure = known ? this.contracts.serves[name] : undefined;
      const handler = Object.hasOwn(this.#handlers, name) ? this.#handlers[name] : undefined;
      if (!procedure || !handler) {
        throw new AppError('not_found', `The other end of the rope does not serve ${name}.`);
      }
      const input = procedure.input.safeParse(frame.input);
      if (!input.success) {
        throw new AppError('invalid_input', `${name}: ${faultOf(input.error)}.`);
      }
      return { kind: 'answer', id, output: await handler(input.data, { signal }) };
    } catch (error) {
      const reason = signal.aborted && !(error instanceof AppError) ? cancelled(name) : error;
      return { kind: 'fail', id, error: errorFrom(reason).toJSON() };
    }
  }

  #read(name: string, value: unknown): unknown {
    const output = this.contracts.calls[name]?.output.safeParse(value);
    if (output?.success) return output.data;
    const problem = output ? faultOf(output.error) : 'there is no such call';
    throw new AppError('internal', `${name} answered what it must not: ${problem}.`);
  }
}

function cancelled(name: string): AppError {
  return new AppError('cancelled', `${name} was cancelled.`);
}
