import { randomBytes } from 'node:crypto';
import {
  followHost,
  type ContainerHost,
  type ContainerSpec,
  type DialIn,
  type SeenState,
} from '@belay/containers';
import { until } from '@belay/testing';
import { FirstProgram } from './first-program.js';

export const newId = (): string => randomBytes(4).toString('hex');
/** Of starts that nobody cancels. */
export const never = new AbortController().signal;

/** One process that uses a host: the programs that have dialled it, and what it has seen. */
export class HostUser {
  readonly programs = new Map<string, FirstProgram>();
  /** Who takes the connections of other programs. */
  readonly takes = new Map<string, (dial: DialIn) => void>();
  readonly seen = new Map<string, SeenState>();
  readonly faults: string[] = [];
  readonly #closing = new AbortController();
  #following: Promise<void> | undefined;

  constructor(readonly host: ContainerHost) {
    host.onDial((id, dial) => {
      const take = this.takes.get(id);
      if (take) take(dial);
      else this.programs.set(id, new FirstProgram(dial));
    });
  }

  /** Resolves when all that there are have been seen. */
  async follow(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#following = followHost(this.host, {
      signal: this.#closing.signal,
      synced: async (found) => {
        for (const { id, state } of found) this.seen.set(id, state);
        resolve();
      },
      changed: ({ id, state }) => this.seen.set(id, state),
      away: ({ message }) => {
        this.faults.push(message);
        resolve();
      },
      back: () => {},
    });
    await promise;
    expect(this.faults).toEqual([]);
  }

  /** The program of a container that has been started or adopted. */
  async program(id: string): Promise<FirstProgram> {
    return until(`the program of ${id} dials`, () => {
      const program = this.programs.get(id);
      return program?.isGone ? undefined : program;
    });
  }

  async start(spec: ContainerSpec): Promise<FirstProgram> {
    await this.host.start(spec, never);
    return this.program(spec.id);
  }

  sees(id: string, state: SeenState): Promise<unknown> {
    return until(`${id} is ${state}`, () => this.seen.get(id) === state);
  }

  /** Its containers go on. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
    await this.host.close();
  }
}
