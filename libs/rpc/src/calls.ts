import { randomUUID } from 'node:crypto';
import { AppError, errorFrom, faultOf, type Contract } from '@belay/protocol';
import { remoteError, type Frame, type ReceivedFrame } from './frame.js';
import { limits } from './limits.js';
import type { ServeContext } from './connection.js';

type Handler = (input: unknown, context: ServeContext) => Promise<unknown>;

interface Pending {
  frame: Frame & { kind: 'call' };
  resolve(output: unknown): void;
  reject(error: AppError): void;
}

/** The calls of one endpoint, outgoing and incoming. The channel delivers each frame once, so each call runs once. */
export class Calls {
  readonly #pending = new Map<string, Pending>();
  readonly #running = new Map<string, AbortController>();
  /** The size of the running calls’ inputs. */
  #inputBytes = 0;
  #handlers: Record<string, Handler> = {};
  #closed: AppError | undefined;

  readonly #contracts: { serves: Contract; calls: Contract };
  readonly #send: (frame: Frame) => void;

  constructor(contracts: { serves: Contract; calls: Contract }, send: (frame: Frame) => void) {
    this.#contracts = contracts;
    this.#send = send;
  }

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
      this.#send({ kind: 'cancel', id });
      reject(cancelled(name));
    };
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      this.#send(frame);
      return this.#parseOutput(name, await promise);
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.#pending.delete(id);
    }
  }

  /** Returns whether the frame belongs to a call. */
  receive(received: ReceivedFrame): boolean {
    const { frame, fault } = received;
    switch (frame.kind) {
      case 'call':
        void this.#run(frame, received);
        return true;
      case 'result':
        if (fault) this.#pending.get(frame.id)?.reject(fault);
        else this.#pending.get(frame.id)?.resolve(frame.output);
        return true;
      case 'fail':
        this.#pending.get(frame.id)?.reject(fault ?? remoteError(frame.error));
        return true;
      case 'cancel':
        this.#running.get(frame.id)?.abort(cancelled('The call'));
        return true;
      default:
        return false;
    }
  }

  /** After the peer was restarted: sends pending calls again and aborts those that the old peer had made. */
  resend(): void {
    this.#abortRunning(new AppError('unavailable', 'The caller was restarted.'));
    for (const { frame } of this.#pending.values()) this.#send(frame);
  }

  close(error: AppError): void {
    this.#closed = error;
    this.#abortRunning(error);
    for (const { reject } of this.#pending.values()) reject(error);
  }

  #abortRunning(error: AppError): void {
    const running = [...this.#running.values()];
    this.#running.clear();
    for (const controller of running) controller.abort(error);
  }

  /** Never rejects: errors become the reply. */
  async #run(frame: Frame & { kind: 'call' }, { bytes, fault }: ReceivedFrame): Promise<void> {
    const controller = new AbortController();
    const { id } = frame;
    if (this.#running.has(id)) return;
    const refusal = fault ?? this.#overload(bytes);
    this.#running.set(id, controller);
    this.#inputBytes += bytes;
    const reply = await this.#serve(frame, controller.signal, refusal);
    this.#inputBytes -= bytes;
    // The caller may have been replaced meanwhile.
    if (this.#running.get(id) !== controller) return;
    this.#running.delete(id);
    this.#send(reply);
  }

  #overload(bytes: number): AppError | undefined {
    const { parallelCalls, inputBytes } = limits;
    const isTooMuch = this.#inputBytes > 0 && this.#inputBytes + bytes > inputBytes;
    if (this.#running.size < parallelCalls && !isTooMuch) return undefined;
    return new AppError(
      'limit_reached',
      `Too many calls at once: ${parallelCalls}, or ${inputBytes / 2 ** 20} MiB. Wait for some.`,
    );
  }

  async #serve(
    frame: Frame & { kind: 'call' },
    signal: AbortSignal,
    refusal: AppError | undefined,
  ): Promise<Frame> {
    const { id, name } = frame;
    try {
      if (refusal) throw refusal;
      const known = Object.hasOwn(this.#contracts.serves, name);
      const procedure = known ? this.#contracts.serves[name] : undefined;
      const handler = Object.hasOwn(this.#handlers, name) ? this.#handlers[name] : undefined;
      if (!procedure || !handler) {
        throw new AppError('not_found', `The peer does not serve ${name}.`);
      }
      const input = procedure.input.safeParse(frame.input);
      if (!input.success) {
        throw new AppError('invalid_input', `${name}: ${faultOf(input.error)}.`);
      }
      return { kind: 'result', id, output: await handler(input.data, { signal }) };
    } catch (error) {
      const reason = signal.aborted && !(error instanceof AppError) ? cancelled(name) : error;
      return { kind: 'fail', id, error: errorFrom(reason).toJSON() };
    }
  }

  #parseOutput(name: string, value: unknown): unknown {
    const output = this.#contracts.calls[name]?.output.safeParse(value);
    if (output?.success) return output.data;
    const problem = output ? faultOf(output.error) : 'the call is unknown';
    throw new AppError('internal', `${name} returned an invalid output: ${problem}.`);
  }
}

function cancelled(name: string): AppError {
  return new AppError('cancelled', `${name} was cancelled.`);
}
