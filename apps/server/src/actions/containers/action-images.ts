import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  actionBuildContainer,
  DockerClient,
  labels,
  outputPieces,
  ownPrograms,
} from '@belay/containers';
import { AppError, ignoreError, type ActionManifest } from '@belay/protocol';
import { z } from 'zod';
import { Config } from '../../config.js';
import { EgressService } from '../../egress/egress.service.js';
import { hostRegistries } from '../../egress/host-registries.js';
import { toolSettings } from '../../egress/tool-settings.js';
import { ownerLabels } from '../../owner-labels.js';
import type { ProgramSocket } from '../../programs/program-socket.js';
import { ProgramSockets } from '../../programs/program-sockets.js';
import { watchWritten } from '../../programs/watch-written.js';
import { digestOf, actionTar, type ActionFile } from '../action-files.js';
import { OutputLines } from '../output-lines.js';
import { buildCommand } from './build-command.js';

export const pulledImage = z.object({
  /** The name in the manifest. */
  name: z.string(),
  id: z.string(),
});
export type PulledImage = z.infer<typeof pulledImage>;

export interface WantedImage {
  /** The action’s name. */
  name: string;
  files: readonly ActionFile[];
  /** Null for the image of sandboxes. */
  base: string | null;
  packages: ActionManifest['packages'];
  /** Declared hosts; the set-up can reach these and the package registries. */
  hosts: readonly string[];
}

export interface InstallOptions {
  /** Called with each line of the set-up’s log. */
  onLine(line: string): void;
  signal: AbortSignal;
}

export interface MakeOptions extends InstallOptions {
  /** Awaited once a missing base image was pulled. */
  onPulled(image: PulledImage): Promise<void>;
}

/** Registries that the set-up can install packages from. */
const registries = ['@apt', '@npm', '@pypi'];

/**
 * Makes images of actions: a container of the base image gets the files, runs the set-up and is committed. Unlike an
 * engine build, this container has our limits and no network of the engine, and no Dockerfile can escape it. The
 * remains of a killed server are removed at its next start, like programs of MCP servers.
 */
@Injectable()
export class ActionImages {
  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
    private readonly egress: EgressService,
    private readonly sockets: ProgramSockets,
  ) {}

  /**
   * Returns the image’s id, which is the same for the same files, base and packages. Throws an `AppError` with one
   * sentence.
   */
  async make(wanted: WantedImage, options: MakeOptions): Promise<string> {
    const { name, files, packages } = wanted;
    const base = wanted.base ?? this.config.image;
    const command = buildCommand(packages, {
      hasSetup: files.some(({ path }) => path === 'setup'),
      variables: await toolSettings(this.config.environment),
    });
    const socket = command && (await this.#socketOf(wanted, options));
    let container: string | undefined;
    try {
      // The sandbox image does not belong to an action.
      const onPulled = async (id: string): Promise<void> => {
        if (wanted.base !== null) await options.onPulled({ name: base, id });
      };
      container = await this.#create({ name, base, command, socket, onPulled });
      const made = await this.docker.imageOf(container);
      const tag = tagOf({ base: made ?? base, command, files: digestOf(files) });
      const cached = await this.docker.imageId(`${this.#repo}:${tag}`);
      if (cached !== undefined) {
        options.onLine('The image already exists from an earlier install.');
        return cached;
      }
      await this.docker.unpack(container, await actionTar(files, 'action'));
      if (command) await this.#run(container, options);
      options.signal.throwIfAborted();
      options.onLine('Saving the image …');
      return await this.docker.commit(container, {
        repo: this.#repo,
        tag,
        changes: [
          'ENTRYPOINT ["/usr/bin/env"]',
          'CMD []',
          'WORKDIR /',
          'USER 1000:1000',
          'ENV BELAY_PROGRAM=',
        ],
      });
    } finally {
      if (container !== undefined) await this.docker.remove(container);
      await socket?.close();
    }
  }

  /**
   * Removes the images with these ids, and the remains of making them. Their containers are removed first: those of
   * running calls, and those kept for later calls.
   */
  async remove(images: readonly string[]): Promise<void> {
    for (const image of images) {
      for (const { id } of await this.docker.list(labels.action))
        if ((await this.docker.imageOf(id)) === image) await this.docker.remove(id);
      await this.docker.removeImage(image);
    }
  }

  /** Removes all other images of actions that this server made. */
  async keepOnly(images: readonly string[]): Promise<void> {
    const found = await this.docker.images(this.docker.ownLabel);
    const others = found.filter(
      (image) => image.labels[labels.action] !== undefined && !images.includes(image.id),
    );
    await this.remove(others.map(({ id }) => id));
  }

  /** Ends the calls of this action, and their services. */
  async endCalls(action: string): Promise<void> {
    const found = await this.docker.list(this.docker.ownLabel);
    for (const container of found)
      if (container.labels[labels.action] === action) await this.docker.remove(container.id);
  }

  /**
   * Removes these names from their images, and images without another name; returns the names that are gone. An image
   * stays while a container uses it, or if one of the needed names refers to it.
   */
  async removePulled(
    images: readonly PulledImage[],
    needed: readonly string[],
  ): Promise<PulledImage[]> {
    const neededIds = new Set<string>();
    for (const name of needed) neededIds.add((await this.docker.imageId(name)) ?? '');
    const gone: PulledImage[] = [];
    for (const image of images) {
      if (neededIds.has(image.id)) continue;
      // Another image of the same name was not pulled by this server.
      const isOurs = (await this.docker.imageId(image.name)) === image.id;
      if (!isOurs || (await this.docker.untagImage(image.name))) gone.push(image);
    }
    return gone;
  }

  get #repo(): string {
    return `belay-action-${this.config.instance}`;
  }

  /**
   * The set-up’s socket, with access to package registries (also those in the host’s own settings) and the declared
   * hosts.
   */
  async #socketOf({ name, hosts }: WantedImage, { onLine }: MakeOptions): Promise<ProgramSocket> {
    const own = await hostRegistries(this.config.environment);
    const origin = {
      name: `The setup of the action ${name}`,
      session: null,
      hosts: [...registries, ...own.map(({ host, port }) => `${host}:${port}`), ...hosts],
      refused: onLine,
    };
    return this.sockets.open({ connect: (target) => this.egress.connectProgram(origin, target) });
  }

  async #create(what: {
    name: string;
    base: string;
    command: readonly string[] | null;
    socket: ProgramSocket | null;
    onPulled: (id: string) => Promise<void>;
  }): Promise<string> {
    const { name, base, command, socket, onPulled } = what;
    return this.docker.create(
      actionBuildContainer({
        name: `belay-action-${name}-setup`,
        image: base,
        command,
        connection: socket && { socketFolder: socket.folder, runtime: this.config.runtimeVolume },
        limits: {
          memoryMb: this.config.memoryMb,
          cpus: Math.min(this.config.cpus, await this.docker.cpus()),
        },
        labels: ownerLabels(this.config, { [labels.action]: name, [labels.program]: ownPrograms }),
      }),
      { boundVolumes: true, onPulled },
    );
  }

  /** Resolves when the set-up has succeeded. */
  async #run(container: string, { onLine, signal }: MakeOptions): Promise<void> {
    const { actionSetupSeconds: seconds } = this.config;
    const stopped = new AbortController();
    const stop = (error: unknown): void => stopped.abort(error);
    const cancel = (): void => stop(signal.reason);
    const late = new AppError(
      'timeout',
      `The setup took more than ${seconds} s. Make it shorter, or raise BELAY_ACTION_SETUP_S.`,
    );
    const timer = setTimeout(() => stop(late), seconds * 1_000).unref();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    // Removing the container ends its output, and with it the waiting below.
    const remove = (): void =>
      void this.docker.remove(container).catch(ignoreError('it is removed at the end, too'));
    stopped.signal.addEventListener('abort', remove, { once: true });
    const watched = new AbortController();
    const { actionImageMb: mebibytes } = this.config;
    const tooLarge = new AppError(
      'too_large',
      `The setup wrote more than ${mebibytes} MiB. Make it smaller, or raise BELAY_ACTION_IMAGE_MB.`,
    );
    const watch = { mebibytes, exceeded: () => stop(tooLarge), signal: watched.signal };
    void watchWritten(this.docker, container, watch);
    try {
      const stream = await this.docker.attach(container);
      stream.on('error', ignoreError('the stream closes'));
      stopped.signal.throwIfAborted();
      await this.docker.start(container);
      const lines = new OutputLines(onLine);
      for await (const { data } of outputPieces(stream)) lines.add(data);
      lines.end();
      stopped.signal.throwIfAborted();
      await this.#assertSucceeded(container);
    } catch (error) {
      stopped.signal.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
      watched.abort();
      signal.removeEventListener('abort', cancel);
    }
  }

  async #assertSucceeded(container: string): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
      const exit = await this.docker.exit(container);
      if (exit === null) {
        await delay(50);
        continue;
      }
      if (exit?.code === 0) return;
      const reason = exit?.outOfMemory
        ? 'ran out of memory'
        : `ended with code ${exit?.code ?? '?'}`;
      throw new AppError('tool_failed', `The setup ${reason}. Its log says why.`);
    }
    throw new AppError(
      'timeout',
      'The container engine did not report how the setup ended. Try again.',
    );
  }
}

const tagOf = (content: object): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 32);
