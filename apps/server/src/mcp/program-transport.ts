import { setTimeout as sleep } from 'node:timers/promises';
import type { ProgramEnd, RunningProgram } from '@belay/containers';
import { ignoreError } from '@belay/protocol';
import { jsonTextFault } from '@belay/rpc';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { LineBuffer } from './line-buffer.js';

/** The SDK’s own limit for programs. */
const maxMessageBytes = 10 * 2 ** 20;
/** Bytes of input that a program may leave unread. */
const maxUnreadBytes = 16 * 2 ** 20;
/** Bytes read from a program per second; a line counts more than its length, because parsing takes time. */
const readPerSecond = 32 * 2 ** 20;
const lineCost = 16 * 2 ** 10;

/** MCP over the input and output of an untrusted program in a container: limited in size, depth and rate. */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The end of its standard error. */
  lastOutput = '';
  end: ProgramEnd = {};
  readonly #lines = new LineBuffer(maxMessageBytes);
  #program: RunningProgram | undefined;
  #closing: Promise<void> | undefined;
  #second = 0;
  #read = 0;

  constructor(private readonly begin: () => Promise<RunningProgram>) {}

  async start(): Promise<void> {
    this.#program = await this.begin();
    void this.#follow(this.#program);
  }

  send(message: JSONRPCMessage): Promise<void> {
    const input = this.#program?.input;
    if (!input?.writable || this.#closing) return Promise.reject(new Error('Not connected'));
    if (input.writableLength > maxUnreadBytes) {
      void this.close().catch(ignoreError('it is gone all the same'));
      return Promise.reject(new Error('It does not read its input.'));
    }
    input.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.end = (await this.#program?.stop()) ?? {};
    this.onclose?.();
  }

  async #follow(program: RunningProgram): Promise<void> {
    try {
      for await (const { isError, data } of program.output) {
        await this.#pace(data.length);
        if (isError) this.lastOutput = (this.lastOutput + data.toString()).slice(-2_000);
        else for (const line of this.#lines.push(data)) await this.#receive(line);
      }
      // Its exit code is known only if nobody kills it.
      await program.ended;
    } catch (error) {
      if (!this.#closing) this.lastOutput = `Belay ended it: ${asError(error).message}`;
    }
    await this.close().catch(ignoreError('it is gone all the same'));
  }

  /**
   * Throws for a message beyond the limits. A line that is not a message is only reported, because programs print
   * other text.
   */
  async #receive(line: string): Promise<void> {
    await this.#pace(lineCost);
    if (this.#closing) return;
    const fault = jsonTextFault(Buffer.from(line));
    if (fault) throw new Error(`a message ${fault}`);
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      return this.onerror?.(asError(error));
    }
    const message = JSONRPCMessageSchema.safeParse(value);
    if (message.success) this.onmessage?.(message.data);
    else this.onerror?.(new Error('It sent something that is not a message.'));
  }

  async #pace(cost: number): Promise<void> {
    const now = Math.floor(Date.now() / 1_000);
    if (now !== this.#second) {
      this.#second = now;
      this.#read = 0;
    }
    this.#read += cost;
    if (this.#read > readPerSecond) await sleep(1_000 - (Date.now() % 1_000));
  }
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));
