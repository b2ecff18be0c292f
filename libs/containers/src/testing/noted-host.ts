import type { ContainerHost, ContainerSpec, ProgramSpec, Seen } from '../container-host.js';

/** A host that does nothing, and notes what it was asked; `asked` in order. */
export class NotedHost {
  readonly asked: [method: string, ...given: unknown[]][] = [];
  readonly started: ContainerSpec[] = [];
  readonly programs: ProgramSpec[] = [];
  /** What it reports, and then nothing until the signal aborts. */
  reports: (Seen | 'synced')[] = ['synced'];
  stored: string[] = [];
  /** Awaited by each start. */
  onStart: () => Promise<void> = async () => {};

  get host(): ContainerHost {
    const note =
      (method: string, value?: unknown) =>
      async (...given: unknown[]) => {
        this.asked.push([method, ...given]);
        return value;
      };
    return {
      images: {
        id: note('images.id', 'sha256:1'),
        has: note('images.has', true),
        fetch: note('images.fetch', true),
      },
      keptFiles: { remove: note('keptFiles.remove'), keepOnly: note('keptFiles.keepOnly') },
      onDial: () => {},
      adopt: note('adopt'),
      remove: note('remove'),
      rename: note('rename'),
      hasFiles: note('hasFiles', true),
      removeFiles: note('removeFiles'),
      storedFiles: async () => this.stored,
      look: async () => ({ state: 'ended', why: '\u001b[31mIt ended.', cause: null }),
      close: note('close'),
      start: async (spec: ContainerSpec) => {
        this.started.push(spec);
        await this.onStart();
      },
      startProgram: async (spec: ProgramSpec) => void this.programs.push(spec),
      watch: (signal: AbortSignal) => this.#watch(signal),
    } as unknown as ContainerHost;
  }

  async *#watch(signal: AbortSignal): AsyncIterable<Seen | 'synced'> {
    yield* this.reports;
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
}
