import { Injectable, Logger } from '@nestjs/common';
import {
  ContainerHost,
  type ProgramSpec,
  ProgramContainer,
  type ProgramServices,
  type RunningProgram,
} from '@belay/containers';
import type { ProgramStart } from '@belay/protocol';
import { ContainerDials } from '../containers/container-dials.js';

/** The containers of programs that run for this server. Those of an earlier one are removed by the reconciler. */
@Injectable()
export class ContainedPrograms {
  readonly #logger = new Logger('ProgramContainer');
  readonly #open = new Set<ProgramContainer>();

  constructor(
    private readonly host: ContainerHost,
    private readonly dials: ContainerDials,
  ) {}

  /** A container that waits for programs; whoever opens it removes it. Throws like `startProgram`. */
  async open(
    spec: ProgramSpec,
    services: ProgramServices,
    signal: AbortSignal,
  ): Promise<ProgramContainer> {
    const { host, dials } = this;
    const container = new ProgramContainer(spec, {
      host,
      dials,
      services,
      warn: (sentence) => this.#logger.warn(sentence),
    });
    this.#open.add(container);
    void container.over.then(() => this.#open.delete(container));
    await container.start(signal);
    return container;
  }

  /** Runs one program in a container that is removed at its end. Throws like `startProgram`. */
  async run(
    spec: ProgramSpec,
    {
      start,
      services,
      signal,
    }: {
      start: ProgramStart;
      services: ProgramServices;
      signal: AbortSignal;
    },
  ): Promise<RunningProgram> {
    const container = await this.open(spec, services, signal);
    try {
      const running = await container.run(start);
      const ended = running.ended.then(async (end) => {
        await container.remove();
        return end;
      });
      const stop = () => running.stop().then(() => ended);
      return { ...running, ended, stop };
    } catch (error) {
      await container.remove();
      throw error;
    }
  }

  /** Removes those that are chosen; their programs end. */
  async end(isChosen: (spec: ProgramSpec) => boolean): Promise<void> {
    const chosen = [...this.#open].filter(({ spec }) => isChosen(spec));
    await Promise.all(chosen.map((container) => container.remove()));
  }
}
